// The script `version` of `npm version`: copies the new version of the project to the packages, the image and its files in deploy/.
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

const { name, version } = JSON.parse(readFileSync('package.json', 'utf8')) as Readonly<
  Record<'name' | 'version', string>
>
const manifests = globSync('packages/*/package.json')
/** Patterns of the version in other files. */
const PLACES: Readonly<Record<string, RegExp>> = {
  Dockerfile: /(?<=org\.opencontainers\.image\.version=")[^"]+/g,
  'deploy/compose.yaml': new RegExp(`(?<=image: ${name}:)\\S+`, 'g'),
  'deploy/kubernetes.yaml': new RegExp(`(?<=image: ${name}:)\\S+`, 'g'),
}

for (const file of manifests) replaceIn(file, /(?<=^ {2}"version": ")[^"]+/gm)
const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  readonly packages: Record<string, object>
}
for (const file of manifests) {
  const folder = dirname(file)
  lock.packages[folder] = { ...lock.packages[folder], version }
}
writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`)
for (const [file, place] of Object.entries(PLACES)) replaceIn(file, place)
const changed = [...manifests, 'package-lock.json', ...Object.keys(PLACES)]
if (existsSync('.git')) execFileSync('git', ['add', '--', ...changed]) // npm commits staged files

/** @throws {Error} if the pattern is not in the file, which would keep an old version */
function replaceIn(file: string, place: RegExp): void {
  const text = readFileSync(file, 'utf8')
  if (text.match(place) === null) throw new Error(`${file} has no version where it is expected`)
  writeFileSync(file, text.replace(place, version))
}
