# Starts the llama-stack server with the mounted configuration, in the way of the version that is installed.
set -eu
config=/etc/llama-stack/config.yaml
era=$(python3 -c '
import re, sys
from importlib.metadata import version

era = "uvicorn"
try:
    found = version("llama_stack")
    numbers = [int(number) for number in re.match(r"[0-9]+(\.[0-9]+)*", found).group().split(".")]
    release = tuple((numbers + [0, 0])[:3])
    if release < (0, 2, 17):
        era = "distribution"
    elif release < (0, 3, 0):
        era = "core"
    print(f"llama-stack {found} is installed", file=sys.stderr)
except Exception as error:
    print(f"the version of llama-stack is not known: {error}", file=sys.stderr)
print(era)
') || era=uvicorn
case "$era" in
distribution) exec python3 -m llama_stack.distribution.server.server --config "$config" ;;
core) exec python3 -m llama_stack.core.server.server "$config" ;;
*) exec uvicorn llama_stack.core.server.server:create_app --host 0.0.0.0 --port "${LLS_PORT:-8321}" \
    --workers "${LLS_WORKERS:-1}" --factory ;;
esac
