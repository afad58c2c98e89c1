#!/bin/sh
# One call on a Sluice budget with curl: ask, send, settle. Waiting is the server's business: the first request answers when the
# permit is there, or when --max-time is over.
#
#   SLUICE_URL=http://localhost:8080 SLUICE_TOKEN=slc_... ./curl.sh acme-prod claude-sonnet-5-5
set -eu
project=${1:?project} model=${2:?model}
api=${SLUICE_URL:-http://localhost:8080}/v1/projects/$project

# The token goes by standard input: arguments are seen in the list of processes.
sluice() {
  printf 'header = "Content-Type: application/json"\n%s' "${SLUICE_TOKEN:+header = \"Authorization: Bearer $SLUICE_TOKEN\"}" |
    curl --silent --show-error --fail-with-body --max-time 90 --config - "$@"
}

# A member of flat JSON; jq does it better where it is installed.
member() { sed -n "s/.*\"$1\": *\"\{0,1\}\([^\",}]*\).*/\1/p"; }

# The id makes a question that is asked again the same question: the permit it has already, or the place in line.
id=curl-$$-$(date +%s)
permit=$(sluice --retry 3 --retry-connrefused -d '{"id": "'"$id"'", "model": "'"$model"'", "input_tokens": 2000,
  "max_output_tokens": 500, "max_wait_ms": 60000}' "$api/permits") || { echo "$permit" >&2; exit 1; }
handle=$(printf %s "$permit" | member permit)
echo "granted on $(printf %s "$permit" | member class) after $(printf %s "$permit" | member waited_ms) ms"

# Until it is settled: a call that takes longer than a third of lease_ms renews its permit every so often.
sluice -X POST "$api/permits/$handle/renew" >/dev/null

# Here the provider is called. What it used replaces the estimate; or hand over its status, headers and body.
sluice -d '{"usage": {"input_tokens": 1900, "output_tokens": 250}}' "$api/permits/$handle/settle"
echo
