set -e
BASE_URL="$1" npx --yes orval@8.33.0 --config orval.config.js >&2
rm -f openapi-fetch.ts hey-api.ts
tsc
exec node built/orval.js "$@"
