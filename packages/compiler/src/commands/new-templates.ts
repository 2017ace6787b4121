// Makes the files of a new service from the templates: with its names, and without the parts of a clone.
import type { Plan } from './new-plan.ts'
import type { Templates } from './templates.ts'

interface Ways {
  /** Whether the packages are files in `vendor/`. */
  readonly hasVendor: boolean
  /** Where the rules of the linter are. */
  readonly rules: string
}

/** A place in a file of the clone, and its replacement in a new service. */
type Edit = readonly [file: string, place: RegExp, text: string]

/** The files with links. A link to a missing file leads to the repository. */
const MARKDOWN = /\.md$/
/** The files with the product's name. */
const NAMING = /^(Dockerfile|deploy\/.*)$/

/** The files of a new service, by their paths. @throws {Error} if a file of the clone lacks the place of an edit */
export function fitTemplates(
  templates: Templates,
  plan: Plan,
  ways: Ways,
): ReadonlyMap<string, string> {
  const edits = editsFor(ways)
  const files = new Map(Object.entries(templates.files))
  for (const [file, place, text] of edits) {
    const before = files.get(file) ?? ''
    if (!place.test(before)) throw new Error(`${file} has no ${String(place)}`)
    files.set(
      file,
      before.replace(place, () => text),
    )
  }
  const rename = renamer(templates, plan)
  for (const [file, text] of files) if (NAMING.test(file)) files.set(file, rename(text))
  for (const [file, text] of files)
    if (MARKDOWN.test(file)) files.set(file, linkToRepository(templates, file, text))
  return files
}

function editsFor({ hasVendor, rules }: Ways): readonly Edit[] {
  return [
    ['.dockerignore', /^!packages\/[^]*^!packages\/.*\n/m, hasVendor ? '!vendor\n' : ''],
    ['.github/dependabot.yml', / \(test\/supply\.test\.ts\)/, ''],
    [
      '.github/workflows/ci.yml',
      /^ *# What \.ci\/run would need[^]*- run: \.ci\/run\n/m,
      ['npm ci', 'npm run check', 'npm test'].map((step) => `      - run: ${step}\n`).join(''),
    ],
    ['Dockerfile', / \(a test compares them\)/, ''],
    ['Dockerfile', /^COPY packages packages\n/m, hasVendor ? 'COPY vendor vendor\n' : ''],
    [
      'Dockerfile',
      / && npm ci && /,
      hasVendor ? ' && npm ci && rm -r vendor && ' : ' && npm ci && ',
    ],
    ['redocly.yaml', /packages\/compiler\/src\/read\/refusals\.yaml/, rules],
    ['tsconfig.json', /"packages", /, ''],
    ['tsconfig.json', /,\n *"exclude": .*/, ''],
  ]
}

/** Replaces the names of the product, each by its rule. */
function renamer({ project, title, name }: Templates, plan: Plan): (text: string) => string {
  const renamed = new Map([
    [project.description, `${plan.title}: a contract-first HTTP service`],
    [title, plan.title],
    [project.name, plan.slug],
    [name, plan.name],
    [capitalized(name), capitalized(plan.name)],
  ])
  const names = [...renamed.keys()].map((text) => RegExp.escape(text)).join('|')
  const pattern = new RegExp(`(?<!@)(?:${names})`, 'g')
  return (text) => text.replaceAll(pattern, (match) => renamed.get(match) ?? match)
}

const capitalized = (name: string) => name.charAt(0).toUpperCase() + name.slice(1)

/** Changes the links to missing files: they lead to the repository. */
function linkToRepository({ project, files }: Templates, file: string, text: string): string {
  const base = `${repositoryOf(project)}/${file}`
  return text.replaceAll(/\]\((?!https?:|#)([^)]+)\)/g, (link, target: string) => {
    const { href } = new URL(target, base)
    const path = href.slice(repositoryOf(project).length + 1).replace(/#.*/, '')
    return path in files || path === 'CHANGELOG.md' ? link : `](${href})`
  })
}

/** The address of a file in the repository, without its path. */
export function repositoryOf({ repository, version }: Templates['project']): string {
  const address = repository.url.replace(/^git\+|\.git$/g, '')
  return `${address}/blob/v${version}`
}
