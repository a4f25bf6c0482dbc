# Copies the configuration that the server's image starts with into the shared folder.
set -eu
mkdir -p "$(dirname "$BASE_CONFIG")"
for candidate in "${RUN_CONFIG_PATH:-}" "${LLAMA_STACK_CONFIG:-}" /app/config.yaml /app/run.yaml; do
  if [ -n "$candidate" ] && [ -f "$candidate" ]; then
    cp "$candidate" "$BASE_CONFIG"
    exit 0
  fi
done
exec python3 - "$BASE_CONFIG" <<'PYTHON'
import importlib.util
import os
import shutil
import sys

name = os.environ.get("DISTRIBUTION") or os.environ.get("DISTRO_NAME") or "starter"
spec = importlib.util.find_spec("llama_stack")
root = os.path.dirname(spec.origin) if spec and spec.origin else ""
for folder in ("distributions", "templates"):
    for file in ("config.yaml", "run.yaml"):
        path = os.path.join(root, folder, name, file)
        if root and os.path.isfile(path):
            shutil.copyfile(path, sys.argv[1])
            sys.exit(0)
sys.exit(
    f"the image has no configuration for distribution {name!r}: state providers in the resource, or use overrideConfig"
)
PYTHON
