"""The domains of a topology that have nodes, by number."""

ROOT = 0
"""The domain above the first level."""


class Domains:
    """Domains by id. An id keeps its path and parent, also while no node is there."""

    __slots__ = ("_ids", "children", "leaf_of", "level", "live", "parent", "path", "place")

    def __init__(self, levels: int) -> None:
        self._ids: dict[tuple[str, ...], int] = {(): ROOT}
        self.parent: list[int] = [ROOT]
        self.level: list[int] = [-1]
        self.path: list[tuple[str, ...]] = [()]
        """Of each domain, the values of all levels down to its own."""
        self.place: list[str] = [""]
        """Of each domain, its path as one text that sorts like the path, and faster."""
        self.children: list[dict[int, None]] = [{}]
        """Of each domain, those below it that have nodes."""
        self.live: list[dict[int, None]] = [{} for _ in range(levels)]
        """Of each level, the domains that have nodes."""
        self.leaf_of: dict[str, int] = {}
        """The leaves that have nodes, by key: the hostname, or all values joined by commas."""

    def __len__(self) -> int:
        return len(self.parent)

    @property
    def dead(self) -> int:
        """How many domains have no node."""
        return len(self) - 1 - sum(map(len, self.live))

    @property
    def leaves(self) -> dict[int, None]:
        """The leaves that have nodes."""
        return self.live[-1]

    def number(self, path: tuple[str, ...]) -> int:
        """Return the id of a path, which it gets if it has none."""
        found = self._ids.get(path)
        if found is None:
            above = self.number(path[:-1])
            found = self._ids[path] = len(self.parent)
            self.parent.append(above)
            self.level.append(len(path) - 1)
            self.path.append(path)
            self.place.append("\0".join(path))
            self.children.append({})
        return found

    def attach(self, key: str, leaf: int) -> None:
        """Say that a leaf has nodes, and so has each domain above it."""
        self.leaf_of[key] = leaf
        while leaf != ROOT:
            self.live[self.level[leaf]][leaf] = None
            above = self.parent[leaf]
            self.children[above][leaf] = None
            leaf = above

    def detach(self, key: str) -> None:
        """Say that a leaf has no nodes; nor has a domain above it that has no other leaf."""
        one = self.leaf_of.pop(key)
        while one != ROOT and not self.children[one]:
            del self.live[self.level[one]][one]
            above = self.parent[one]
            del self.children[above][one]
            one = above

    def in_order(self, level: int) -> list[int]:
        """Return the domains of a level in the order of their values; level -1 is the root."""
        return [ROOT] if level < 0 else sorted(self.live[level], key=self.place.__getitem__)

    def above(self, domain: int, level: int) -> int:
        """Return the domain of a level that contains another, or is it."""
        while self.level[domain] > level:
            domain = self.parent[domain]
        return domain

    def below(self, domain: int, level: int) -> list[int]:
        """Return the domains of a level that are in another, or it alone if it is of this level."""
        found = [domain]
        for _ in range(self.level[domain], level):
            found = [child for one in found for child in self.children[one]]
        return found

    def inside(self, domain: int) -> list[int]:
        """Return a domain and all domains in it."""
        found = [domain]
        for one in found:
            found += self.children[one]
        return found
