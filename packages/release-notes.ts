// `node packages/release-notes.ts VERSION`: prints the CHANGELOG section of a version, for its release page.
import { readFileSync } from 'node:fs'

const [version = ''] = process.argv.slice(2)
const changelog = readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8')
const sections = changelog.split(/^## (?=\S)/m).slice(1)
const section = sections.find((text) => text.split(/\s/, 1)[0] === version)
const [title = '', ...lines] = (section ?? '').split('\n')
const fault = faultOf(title)
if (fault === undefined) console.log(lines.join('\n').trim())
else {
  console.error(fault)
  process.exitCode = 1
}

function faultOf(title: string): string | undefined {
  if (section === undefined) return `CHANGELOG.md has no section "## ${version}"`
  if (title.includes('unreleased'))
    return `CHANGELOG.md says that ${version} is unreleased: write its date`
  return undefined
}
