set -e
mkdir client/session
cp main.go client/session/
cd client
exec go run ./session "$@"
