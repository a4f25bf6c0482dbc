# Installs the Python packages of a provider's image into the shared folder, without a network, and keeps its
# description for the merge. Runs again from the start when the pod's containers do.
set -eu
package=${PACKAGE:-/lls-provider}
if [ ! -f "$package/lls-provider-spec.yaml" ]; then
  echo "the image has no $package/lls-provider-spec.yaml: it is not a provider package" >&2
  exit 1
fi
set -- "$package"/packages/*.whl
if [ ! -f "$1" ]; then
  echo "the image has no wheel in $package/packages" >&2
  exit 1
fi
rm -rf "$PYTHON_FOLDER" "$METADATA_FOLDER"
mkdir -p "$PYTHON_FOLDER" "$METADATA_FOLDER"
# The server's image has what the wheels need beside what comes with them: pip is not to look for it here.
python3 -m pip install --no-index --no-deps --no-cache-dir --disable-pip-version-check --quiet \
  --target "$PYTHON_FOLDER" "$@"
cp "$package/lls-provider-spec.yaml" "$METADATA_FOLDER/"
