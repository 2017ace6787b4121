// Follows the sections of the documentation in a copy of the project.
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { matchesGlob } from 'node:path'
import type { Test } from 'tap'
import { run } from '../support/process.ts'
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
  /** Runs the checks and the tests to the end. Each test that fails is a failure of its own, with its name. */
  const passes = async (t: Test) => {
    const files = globSync(TESTS, { cwd: folder }).filter((file) => !matchesGlob(file, OTHER))
    for (const words of [CHECK, isLong ? ['test'] : ['run', 'test:file', '--', ...files]]) {
      const { code, stdout, stderr } = await npm(...words)
      const what = `npm ${words.slice(0, 3).join(' ')}`
      if (code === 0) continue
      // The whole output goes to the terminal: the report of a test is cut.
      console.error(`${what}\n${stdout}${stderr}`)
      const [, names = stdout.slice(-2000) + stderr.slice(-2000)] = /^Failed:\n([^]*)/m.exec(stdout) ?? []
      for (const each of names.trim().split('\n')) t.fail(`${what}: ${each}`)
    }
  }
  return { folder, npm, edit, passes }
}
