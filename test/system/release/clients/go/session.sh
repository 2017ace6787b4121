set -e
mkdir session
mv main.go session/
go mod tidy
exec go run ./session "$@"
