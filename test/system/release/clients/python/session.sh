set -e
python3 -m venv venv
venv/bin/pip install --quiet ./client
exec venv/bin/python session.py "$@"
