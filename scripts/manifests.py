"""Checks manifests: scripts/manifests.py KUBERNETES.yaml ... -- COMPOSE.yaml ..."""

import copy
import sys

import compose_spec
import kubernetes_validate
import yaml

# The oldest release that the Indexed Job is stable in and schemas are at hand for, and the newest.
RELEASES = ["1.27", "1.34"]


def refused(check, document):
    try:
        check(document)
    except Exception as error:  # Each package has errors of its own.
        return str(error).splitlines()[0]
    return None


def kubernetes(release):
    return lambda document: kubernetes_validate.validate(document, release, strict=True)


def compose(document):
    compose_spec.PyCompose.from_yaml(yaml.safe_dump(document))


def plant(document, path, value):
    """The document with another value at a path; a key that is not there is a misspelt one."""
    changed = copy.deepcopy(document)
    at = changed
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return changed


def of_kubernetes(file):
    with open(file, encoding="utf-8") as opened:
        documents = list(yaml.safe_load_all(opened))
    for release in RELEASES:
        check = kubernetes(release)
        for document in documents:
            name = f"{file}: {document['kind']} {document['metadata']['name']}"
            reason = refused(check, document)
            if reason:
                sys.exit(f"manifests: {name}: not valid for Kubernetes {release}: {reason}")
        for document in (it for it in documents if it["kind"] == "Job"):
            container = ["spec", "template", "spec", "containers", 0]
            for path, value in [
                (["spec", "paralelism"], 4),
                (["spec", "backoffLimit"], "four"),
                (container + ["resources", "request"], {}),
                (container + ["image"], ["rabbitscope"]),
            ]:
                if not refused(check, plant(document, path, value)):
                    sys.exit(f"manifests: {file}: the check does not see a wrong {path[-1]}")
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


def main():
    at = sys.argv.index("--")
    for file in sys.argv[1:at]:
        of_kubernetes(file)
    for file in sys.argv[at + 1 :]:
        of_compose(file)
    print(f"manifests: valid for Kubernetes {' and '.join(RELEASES)} and the Compose specification")


main()
