"""Who may speak to a test cluster, and with which groups."""

import secrets
from dataclasses import dataclass

ADMIN = "admin"
CONTROLLER_MANAGER = "controller-manager"
SCHEDULER = "scheduler"
# The product's own service account: RBAC applies to it as in production.
CONTROLLER = "controller"
# A person of a team with no rights of their own until a test binds a role.
TEAM = "team"

CONTROLLER_NAMESPACE = "kueue-system"
CONTROLLER_ACCOUNT = "kueue-controller-manager"


@dataclass(frozen=True, slots=True)
class Identity:
    """A user name and groups, as the API server's token file spells them."""

    user: str
    groups: tuple[str, ...] = ()


IDENTITIES: dict[str, Identity] = {
    ADMIN: Identity("e2e-admin", ("system:masters",)),
    CONTROLLER_MANAGER: Identity("system:kube-controller-manager"),
    SCHEDULER: Identity("system:kube-scheduler"),
    CONTROLLER: Identity(
        f"system:serviceaccount:{CONTROLLER_NAMESPACE}:{CONTROLLER_ACCOUNT}",
        ("system:serviceaccounts", f"system:serviceaccounts:{CONTROLLER_NAMESPACE}"),
    ),
    TEAM: Identity("e2e-team"),
}


def new_tokens() -> dict[str, str]:
    """Make one random token per identity."""
    return {name: secrets.token_hex(16) for name in IDENTITIES}


def token_file(tokens: dict[str, str]) -> str:
    """Write the lines of `--token-auth-file`."""
    lines = []
    for name, token in tokens.items():
        identity = IDENTITIES[name]
        lines.append(f'{token},{identity.user},{identity.user},"{",".join(identity.groups)}"')
    return "\n".join(lines) + "\n"
