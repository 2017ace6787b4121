# Puts the Node of the packages first in PATH. The scripts of package.json begin with it: npm before 11.19 removes the
# link to that Node from node_modules/.bin (https://github.com/npm/cli/issues/4362).
set -- "$PWD"/node_modules/node-*-*/bin/node*
if [ -x "$1" ]; then
  PATH=${1%/*}:$PATH
else
  case $(node --version) in
    v2[4-9].* | v[3-9]?.*) ;;
    *) echo 'npm ci has installed no Node for this system. Run it again, or install Node 24.21 or later.' >&2 && exit 1 ;;
  esac
fi
