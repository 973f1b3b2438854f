# The controller's image: a wheel built in one stage, installed without tools in the next.
FROM docker.io/library/python:3.13-slim AS build
WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY api ./api
COPY queueing ./queueing
RUN python -m venv /opt/queueing \
 && /opt/queueing/bin/pip install --no-cache-dir --disable-pip-version-check -c constraints.txt . \
 && /opt/queueing/bin/python -m compileall -q /opt/queueing

FROM docker.io/library/python:3.13-slim
COPY --from=build /opt/queueing /opt/queueing
ENV PATH=/opt/queueing/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 MALLOC_ARENA_MAX=2
USER 65532:65532
ENTRYPOINT ["queueing"]
CMD ["run"]
