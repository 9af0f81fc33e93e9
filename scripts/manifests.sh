#!/bin/sh
# Checks deploy/: Kubernetes' manifests against its published schemas, the compose file against the Compose
# specification. Proves that both checks find a planted mistake. The schemas come with two packages from PyPI, which go
# to target/manifests.
set -eu
cd "$(dirname "$0")/.."

place=${CARGO_TARGET_DIR:-target}/manifests
python=$place/bin/python
# Pinned, so that a later schema does not fail an earlier change.
packages="kubernetes-validate==1.37.0 compose-spec==0.2.1"

if ! "$python" -c 'import compose_spec, kubernetes_validate' 2>/dev/null; then
    python3 -m venv "$place"
    # shellcheck disable=SC2086 # a list of words
    "$place/bin/pip" install --quiet --disable-pip-version-check $packages || {
        echo "manifests: not checked, because PyPI has no $packages here" >&2
        exit "${MANIFESTS_MISSING:-1}"
    }
fi
"$python" scripts/manifests.py deploy/kubernetes/*.yaml -- deploy/compose.yaml
