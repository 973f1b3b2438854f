// Keeps an open page as it is now. Without this script the page shows the moment of its request.
"use strict";
(() => {
  const main = document.getElementById("main");
  const asOf = document.getElementById("as-of");
  const box = document.getElementById("live");
  if (!window.EventSource || !box) return;
  const button = box.querySelector("button");
  const status = box.querySelector("[role=status]");
  const { root, path } = document.body.dataset;
  let source = null;
  let paused = false;

  // Text is shown as the reader's own clock has it; the page itself says UTC.
  const two = (number) => String(number).padStart(2, "0");
  const local = (at) => {
    const when = new Date(at);
    if (Number.isNaN(when.getTime())) return at;
    const clock = [when.getHours(), when.getMinutes(), when.getSeconds()].map(two).join(":");
    const date = [when.getFullYear(), when.getMonth() + 1, when.getDate()].map(two).join("-");
    return new Date().toDateString() === when.toDateString() ? clock : `${date} ${clock}`;
  };
  const spell = (within) => {
    for (const time of within.querySelectorAll("time[datetime]")) {
      time.title = time.dateTime;
      time.textContent = local(time.dateTime);
    }
  };

  // What is focused and how far tables are scrolled survives an exchange.
  const place = (element) => {
    const twins = [...main.querySelectorAll(element.tagName)];
    return [element.tagName, element.getAttribute("href"), twins.indexOf(element)];
  };
  const again = ([tag, href, at]) => {
    const twins = [...main.querySelectorAll(tag)];
    return (href && twins.find((one) => one.getAttribute("href") === href)) || twins[at];
  };
  const exchange = (html) => {
    const focused = main.contains(document.activeElement) && document.activeElement !== main
      ? place(document.activeElement) : null;
    const scrolled = [...main.querySelectorAll(".scroll")].map((one) => one.scrollLeft);
    const fresh = new DOMParser().parseFromString(html, "text/html").body;
    spell(fresh);
    main.replaceChildren(...fresh.childNodes);
    main.querySelectorAll(".scroll").forEach((one, at) => { one.scrollLeft = scrolled[at] || 0; });
    if (focused) again(focused)?.focus({ preventScroll: true });
  };

  const close = () => { source?.close(); source = null; };
  const open = () => {
    if (source || paused || document.hidden) return;
    source = new EventSource(`${root}?watch=true&of=${encodeURIComponent(path)}`);
    source.addEventListener("page", (event) => { const told = JSON.parse(event.data); exchange(told.main); stamp(told.time); });
    source.addEventListener("same", (event) => stamp(JSON.parse(event.data).time));
    source.addEventListener("problem", (event) => { status.textContent = JSON.parse(event.data).text; });
    source.onerror = () => {
      if (source && source.readyState === EventSource.CLOSED) { status.textContent = "No updates: reload the page."; close(); }
    };
  };
  const stamp = (time) => {
    asOf.dateTime = time;
    spell(asOf.parentElement);
    if (status.textContent) status.textContent = "";
  };

  button.addEventListener("click", () => {
    paused = !paused;
    button.setAttribute("aria-pressed", String(!paused));
    if (paused) close(); else open();
  });
  document.addEventListener("visibilitychange", () => { if (document.hidden) close(); else open(); });
  window.addEventListener("pagehide", close);
  spell(document);
  box.hidden = false;
  open();
})();
