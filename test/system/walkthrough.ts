// Follows the sections of the documentation in a copy of the project.
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { matchesGlob } from 'node:path'
import type { Test } from 'tap'
import { type Ended, run } from '../support/process.ts'
import { copyProject, NPM } from '../support/project.ts'

/** In the short form, types and those tests only that read the contract of the project. */
const isLong = process.env['LONG'] === '1'
const CHECK = isLong ? ['run', 'check'] : ['exec', '--', 'tsc']
const TESTS = ['test/{readme,rooms}.test.ts', 'test/{contract,product}/*.test.ts']
/** It takes another product. */
const OTHER = 'test/contract/second.test.ts'

/** The code blocks of a section, from its title to the next title of its level. */
export function blocksOf(file: string, title: string, end = '## '): string[] {
  const [, text = ''] = readFileSync(file, 'utf8').split(`\n## ${title}\n`)
  const [section = ''] = text.split(`\n${end}`)
  return [...section.matchAll(/^( *)```\w*\n([^]*?)^ *```$/gm)].map(([, indent = '', block = '']) =>
    // A block of a list is indented as its item is. What is not of YAML or TypeScript keeps its indentation.
    indent === '' ? block : block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )
}

/** Who has followed a section in the project itself, or has made it their own, can't do so again. */
export function skipAfter(operationId: string): string | false {
  const text = readFileSync('openapi.yaml', 'utf8')
  const isFollowed = text.includes(`operationId: ${operationId}`) || !text.includes('/plants/{id}:')
  return isFollowed && 'openapi.yaml is another one'
}

/** Makes a copy of the project in which a section is followed. @param environment of its programs */
export function copyToFollow(t: Test, environment: Record<string, string> = {}) {
  t.setTimeout(3_600_000)
  const folder = copyProject(t)
  /** Runs npm. */
  const npm = (...words: string[]) => run([...NPM, ...words], environment, folder)
  /** Changes a file at a place, which it must have. */
  const edit = (file: string, place: RegExp, replace: (found: string) => string) => {
    const text = readFileSync(`${folder}/${file}`, 'utf8')
    t.match(text, place, file)
    writeFileSync(`${folder}/${file}`, text.replace(place, replace))
  }
  /** Runs the checks and the tests to the end. Each that fails is a failure of its own, with its name. */
  const passes = async (t: Test) => {
    const files = globSync(TESTS, { cwd: folder }).filter((file) => !matchesGlob(file, OTHER))
    const test = isLong ? ['test'] : ['run', 'test:file', '--', ...files]
    for (const words of [CHECK, test]) {
      const ended = await npm(...words)
      const what = words.slice(0, 3).join(' ')
      // The whole output goes to the terminal: the report of a test is cut.
      if (ended.code !== 0) console.error(`npm ${what}\n${ended.stdout}${ended.stderr}`)
      for (const each of failuresOf(ended)) t.fail(`npm ${what}: ${each}`)
      t.equal(ended.code, 0, what)
    }
  }
  return { folder, npm, edit, passes }
}

/** What failed, by name: the failed tests, or else the last lines of a check. */
function failuresOf({ code, stdout, stderr }: Ended): string[] {
  const [, names] = /^Failed:\n([^]*)/m.exec(stdout) ?? []
  if (code === 0) return []
  return names?.trim().split('\n') ?? (stdout + stderr).trim().split('\n').slice(-20)
}
