# Prints the packages of the image as SPDX. npm itself would list those of development, too.
set -e
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cp package.json package-lock.json "$folder"
for name in engine json-schema store; do
  mkdir -p "$folder/packages/$name" && cp "packages/$name/package.json" "$folder/packages/$name"
done
cd "$folder"
npm pkg delete devDependencies optionalDependencies overrides
npm install --silent --offline --package-lock-only
npm sbom --omit optional --package-lock-only --sbom-format spdx
