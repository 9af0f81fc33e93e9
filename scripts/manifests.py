"""Checks manifests: scripts/manifests.py KUBERNETES.yaml ... -- COMPOSE.yaml ..."""

import copy
import os
import sys

import compose_spec
import kubernetes_validate
import yaml

# The oldest release with the features of each manifest and with schemas here (the Indexed Job is stable since 1.24, the
# field for AppArmor exists since 1.30), and the newest.
OLDEST = {"fleet.yaml": "1.27", "watch.yaml": "1.30"}
NEWEST = "1.34"

# Exactly the needs of `watch` (docs/reference/privileges.md).
CAPABILITIES = {"drop": ["ALL"], "add": ["BPF", "PERFMON", "SYS_PTRACE", "DAC_READ_SEARCH", "SYSLOG"]}

# Mistakes that the check must find, by kind.
CONTAINER = ["spec", "template", "spec", "containers", 0]
PLANTED = {
    "Job": [
        (["spec", "paralelism"], 4),
        (["spec", "backoffLimit"], "four"),
        (CONTAINER + ["resources", "request"], {}),
        (CONTAINER + ["image"], ["rabbitscope"]),
    ],
    "DaemonSet": [
        (["spec", "template", "spec", "hostPid"], True),
        (CONTAINER + ["securityContext", "capabilities", "ad"], []),
        (CONTAINER + ["securityContext", "seccompProfile"], "RuntimeDefault"),
    ],
}


def refused(check, document):
    try:
        check(document)
    except Exception as error:  # Each package has errors of its own.
        return str(error).splitlines()[0]
    return None


def kubernetes(release):
    return lambda document: kubernetes_validate.validate(document, release, strict=True)


def compose(document):
    """Replaces the variable for a user, because the package checks user names before that."""
    replaced = copy.deepcopy(document)
    for service in replaced["services"].values():
        if service.get("user", "").startswith("${"):
            service["user"] = "1000:1000"
    compose_spec.PyCompose.from_yaml(yaml.safe_dump(replaced))


def plant(document, path, value):
    """Returns the document with another value at a path. An absent key stands for a misspelt one."""
    changed = copy.deepcopy(document)
    at = changed
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return changed


def of_kubernetes(file):
    with open(file, encoding="utf-8") as opened:
        documents = list(yaml.safe_load_all(opened))
    for release in [OLDEST[os.path.basename(file)], NEWEST]:
        check = kubernetes(release)
        for document in documents:
            name = f"{file}: {document['kind']} {document['metadata']['name']}"
            reason = refused(check, document)
            if reason:
                sys.exit(f"manifests: {name}: not valid for Kubernetes {release}: {reason}")
        for document in documents:
            for path, value in PLANTED.get(document["kind"], []):
                if not refused(check, plant(document, path, value)):
                    sys.exit(f"manifests: {file}: the check does not see a wrong {path[-1]}")
    for document in documents:
        if document["kind"] == "DaemonSet":
            privileges_of(file, document)
        if document["kind"] == "Job" and not document["spec"]["template"]["spec"]["securityContext"]["runAsNonRoot"]:
            sys.exit(f"manifests: {file}: {document['metadata']['name']} may run as root")
    if any(document["kind"] == "Job" for document in documents):
        numbers_of_workers(file, documents)


def privileges_of(file, document):
    """Checks that least privilege is explicit, so that no default of a cluster decides."""
    context = document["spec"]["template"]["spec"]["containers"][0]["securityContext"]
    said = {"privileged", "allowPrivilegeEscalation", "seccompProfile", "appArmorProfile"} <= context.keys()
    if context["capabilities"] != CAPABILITIES or context["privileged"] or not said:
        sys.exit(f"manifests: {file}: the privileges are not those that the work needs")


def numbers_of_workers(file, documents):
    workers = next(it for it in documents if it["metadata"]["name"] == "rabbitscope-workers")
    controller = next(it for it in documents if it["metadata"]["name"] == "rabbitscope-controller")
    spec = workers["spec"]
    wanted = f"--workers={spec['completions']}"
    arguments = controller["spec"]["template"]["spec"]["containers"][0]["args"]
    if spec["completions"] != spec["parallelism"] or wanted not in arguments:
        sys.exit(f"manifests: {file}: the numbers of workers differ")


def of_compose(file):
    with open(file, encoding="utf-8") as opened:
        document = yaml.safe_load(opened)
    reason = refused(compose, document)
    if reason:
        sys.exit(f"manifests: {file}: {reason}")
    for path, value in [
        (["services", "worker", "imige"], "rabbitscope"),
        (["services", "worker", "depends_on"], {"bus": {"condition": "service_helthy"}}),
        (["services", "worker", "deploy", "replicas"], "four"),
    ]:
        if not refused(compose, plant(document, path, value)):
            sys.exit(f"manifests: {file}: the check does not see a wrong {path[-1]}")


    for name in ["worker", "controller"]:
        if runs_as_root(document["services"][name]):
            sys.exit(f"manifests: {file}: {name} runs as root, or may become root")
    for path, value in [(["user"], "0:0"), (["user"], "root"), (["security_opt"], [])]:
        if not runs_as_root(plant(document["services"]["worker"], path, value)):
            sys.exit(f"manifests: {file}: the check does not see a wrong {path[-1]}")
    if not runs_as_root({key: value for key, value in document["services"]["worker"].items() if key != "user"}):
        sys.exit(f"manifests: {file}: the check does not see a missing user")


def runs_as_root(service):
    """Checks the user: without one it is the image's; a required variable names the caller's."""
    user = str(service.get("user", ""))
    is_other = user.startswith("${RABBITSCOPE_USER:?") or (user[:1].isdigit() and not user.startswith("0"))
    return not is_other or "no-new-privileges:true" not in service.get("security_opt", [])


def main():
    at = sys.argv.index("--")
    for file in sys.argv[1:at]:
        of_kubernetes(file)
    for file in sys.argv[at + 1 :]:
        of_compose(file)
    print(f"manifests: valid for Kubernetes up to {NEWEST} and the Compose specification")


main()
