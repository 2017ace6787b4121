import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { variables } from './support/inner/variables.ts'
import { NAME, PREFIX } from './support/figures/alert-series.ts'

t.test('the configuration table agrees with config.ts', async (t) => {
  const rows = Object.entries(variables).map(
    ([name, [fallback, { values }, meaning]]) =>
      `| \`${name}\` | ${fallback === '' ? 'none' : `\`${fallback.replace('{name}', NAME)}\``} | ${values} | ${meaning} |`,
  )
  t.strictSame(section('deploy/README.md', '## Configuration').match(/^\| `.*/gm), rows)
})

t.test('each alert has a row that says what to do', async (t) => {
  const rows = section('deploy/README.md', '## Alerts').match(
    new RegExp(`(?<=^\\| \`)${PREFIX}\\w+(?=\` \\|)`, 'gm'),
  )
  t.strictSame(rows, readFileSync('deploy/alerts.yaml', 'utf8').match(/(?<=alert: )\w+/g))
})

t.test('each link to a file or a heading has a target', async (t) => {
  for (const file of globSync(['*.md', '{deploy,service,test}/**/*.md', 'packages/*/*.md'])) {
    const links = readFileSync(file, 'utf8').matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)
    for (const [, path = '', heading] of links) {
      const target = path === '' ? file : join(dirname(file), path)
      t.ok(existsSync(target), `${file}: ${path}`)
      if (heading !== undefined)
        t.ok(headings(target).includes(heading), `${file}: ${path}#${heading}`)
    }
  }
})

/** The files between backticks, each by its path or the end of the path. */
const NAMED = /`\/?([\w.@/-]+\.(?:cfg|js|json|md|png|sh|ts|txt|ya?ml))`/g
/** Files that the reader writes, or that only some services have. */
const TO_WRITE = ['service/failure.ts', '.redocly.lint-ignore.yaml']

t.test('each file that a README names is there', async (t) => {
  const exclude = ['node_modules', '.git', '.tap', '.dev', 'data']
  const files = globSync(['**', '.*/**'], { exclude }).map((file) => `/${file}`)
  const named = globSync(['*.md', '{deploy,service,test}/**/*.md', 'packages/*/*.md']).flatMap(
    (readme) =>
      [...readFileSync(readme, 'utf8').matchAll(NAMED)].map(([, path = '']) => ({ readme, path })),
  )
  t.ok(named.length > 100)
  for (const { readme, path } of named) {
    if (TO_WRITE.includes(path)) continue
    t.ok(
      files.some((file) => file.endsWith(`/${path}`)),
      `${readme}: ${path}`,
    )
  }
})

t.test("the engine's README quotes the stages of a request", async (t) => {
  const way = section('packages/engine/README.md', '## The way of a request')
  const quoted = [...way.matchAll(/^```ts\n(.*?)^```/gms)].flatMap(([, lines = '']) =>
    lines.trim().split('\n'),
  )
  const code = readFileSync('packages/engine/src/operation/operation.ts', 'utf8')
  const stages = code
    .match(/^ {4}(?:const|return) .*this\.#[\w.]+\(.*$/gm)
    ?.map((line) => line.trim())
  t.equal(quoted.length, 5)
  t.strictSame(
    quoted,
    stages?.filter((line) => quoted.includes(line)),
  )
})

t.test('each promise names an existing test', async (t) => {
  const promises = [
    ...section('test/README.md', '## What you can rely on').matchAll(
      /^\| .* \| `(.*)`: (.*) \|$/gm,
    ),
  ]
  t.ok(promises.length > 20)
  for (const [, file = '', name = ''] of promises) {
    t.ok(
      readFileSync(pathOf(file), 'utf8').replaceAll("\\'", "'").includes(name),
      `${file}: ${name}`,
    )
  }
})

t.test(
  'each system test is in .ci/run, or the README names its short form in npm test',
  async (t) => {
    const gate = [
      ...readFileSync('.ci/run', 'utf8').matchAll(/^(?:tests|walkthroughs)=\((.*)\)$/gm),
    ]
    const rows = section('test/README.md', '# The tests').matchAll(
      /^\| `(system\/[\w./]+)` \| (.*) \|$/gm,
    )
    const left = [...rows].map(([, file = '', short = '']) => {
      for (const [, file = ''] of short.matchAll(/`([\w/]+\.test\.ts)`/g))
        t.ok(existsSync(pathOf(file)), file)
      return file
    })
    t.strictSame(
      [
        ...gate
          .flatMap(([, names = '']) => names.split(' '))
          .map((name) => `system/${name}.test.ts`),
        ...left,
      ].sort(),
      globSync('system/**/*.test.ts', { cwd: 'test' }).sort(),
    )
  },
)

/** The path of the test in a row. */
function pathOf(file: string): string {
  return file.startsWith('packages/') ? file : `test/${file}`
}

/** The anchors of a file's headings, as GitHub makes them. */
function headings(file: string): string[] {
  const titles = readFileSync(file, 'utf8').match(/(?<=^#+ ).+/gm) ?? []
  const words = titles.map((title) => title.toLowerCase().replaceAll(/[^\w\s-]/g, ''))
  return words.map((heading) => heading.replaceAll(' ', '-'))
}

function section(file: string, title: string): string {
  const sections = readFileSync(file, 'utf8').split(/^(?=## )/m)
  return sections.find((section) => section.startsWith(`${title}\n`)) ?? ''
}
