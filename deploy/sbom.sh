# Prints the packages of the image as SPDX. npm itself would list those of development, too.
set -e
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cp package.json package-lock.json "$folder"
cd "$folder"
npm pkg delete devDependencies optionalDependencies overrides
npm install --silent --offline --package-lock-only
npm sbom --omit optional --package-lock-only --sbom-format spdx
