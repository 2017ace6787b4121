set -e
exec cargo run --quiet -- "$@"
