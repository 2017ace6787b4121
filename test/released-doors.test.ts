// The doors of the packages are contracts, too: what breaks a product has a new major version, and a line in the CHANGELOG.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { declaredDoors, manifestOf } from '../packages/doors.ts'
import { breaksIn } from './support/doors/door-changes.ts'

const doors = await declaredDoors()
const released = (name: string) => readFileSync(`packages/${name}/released.d.ts`, 'utf8')

t.test('what breaks a product has a new major version, and a line', async (t) => {
  const changelog = readFileSync('CHANGELOG.md', 'utf8')
  const { version } = manifestOf('.')
  for (const [name, door] of doors)
    t.strictSame(faults(released(name), door, version, changelog), [], name)
})

/** Changes that break a product: the declaration as it is, as it becomes, and how the change is named. */
const BREAKS: readonly (readonly [before: string, after: string, named: RegExp])[] = [
  ['export declare const a: () => void', '', /^a: is no longer exported/],
  ['export interface A { b: 1 }', 'interface A { b: 1 }', /^A: is no longer exported/],
  ['export interface A { b: 1 }', 'export interface B { b: 1 }', /^A: is no longer exported/],
  ['export interface A { b: 1; c?: 2 }', 'export interface A { b: 1 }', /^A\.c: was removed/],
  ['export interface A { b: 1 }', 'export interface A { b: 1; c: 2 }', /^A\.c: is a new required/],
  ['export interface A { b?: 1 }', 'export interface A { b: 1 }', /^A\.b: is required now/],
  ['export interface A { b: string }', 'export interface A { b: number }', /^A\.b: is number inst/],
  [
    'export type A = { b: string[] }',
    'export type A = { b: number[] }',
    /^A\.b: is number instead/,
  ],
  [
    'export interface A { b(c: 1): 2 }',
    'export interface A { b(c: 1, d: 2): 2 }',
    /^A\.b: has a new/,
  ],
  ['export interface A extends B {}', 'export interface A {}', /^A: no longer extends B/],
  [
    'export interface A<B> { b: B }',
    'export interface A<B, C> { b: B }',
    /^A: has a new required t/,
  ],
  [
    'export declare function a(b: string): void',
    'export declare function a(b: string, c: number): void',
    /^a: has a new required parameter c: number/,
  ],
  [
    'export declare const a: (b: string, c?: number) => void',
    'export declare const a: (b: string) => void',
    /^a, parameter 2: was removed/,
  ],
  [
    'export declare const a: (b?: string) => void',
    'export declare const a: (b: string) => void',
    /^a, parameter 1: is required now/,
  ],
  [
    'export declare const a: (b: { c?: 1 }) => void',
    'export declare const a: (b: { c?: 1; d: 2 }) => void',
    /^a, parameter 1\.d: is a new required member/,
  ],
  [
    'interface Options { b?: 1 }\nexport declare const a: (options: Options) => void',
    'interface Words { b?: 1; c: 2 }\nexport declare const a: (options: Words) => void',
    /^a, parameter 1 \(Options\)\.c: is a new required member/,
  ],
  [
    "export declare const a: (b: 'c' | 'd') => void",
    "export declare const a: (b: 'c') => void",
    /^a, parameter 1: is no longer 'd'/,
  ],
  [
    'export declare const a: () => string',
    'export declare const a: () => string | undefined',
    /^a, result: may be undefined now/,
  ],
  [
    'export declare const a: () => Promise<{ b: 1 }>',
    'export declare const a: () => Promise<{ b?: 1 }>',
    /^a, result\.b: may be missing now/,
  ],
  [
    'export declare const a: (b: (c: { d: 1; e: 2 }) => void) => void',
    'export declare const a: (b: (c: { d: 1 }) => void) => void',
    /^a, parameter 1, parameter 1\.e: was removed/,
  ],
  [
    'export declare class A { constructor(b: string); c(): void }',
    'export declare class A { constructor(b: string, d: number); c(): void }',
    /^A\.\[Constructor\]: has a new required parameter d: number/,
  ],
  [
    "import type { B } from 'c'\nexport declare const a: () => B",
    "import type { B } from 'd'\nexport declare const a: () => B",
    /^a, result: is B of 'd' instead of B of 'c'/,
  ],
  [
    'export interface RequestOf<B> { c: B; d: 1 }',
    'export interface RequestOf<B> { c: B }',
    /^RequestOf\.d: was removed/,
  ],
]

/** Changes that no product notices. */
const ADDITIONS: readonly (readonly [before: string, after: string])[] = [
  ['', 'export declare const a: () => void'],
  ['export interface A { b: 1 }', 'export interface A { b: 1; c?: 2 }'],
  ['export interface A { b: 1; c: 2 }', 'export interface A { c: 2; b: 1 }'],
  ['export interface RequestOf<B> { c: B }', 'export interface RequestOf<B> { c: B; d: 1 }'],
  ['export interface Product { b: 1 }', 'export interface Product<C = 1> { b: 1; c: C }'],
  ['export declare const a: (b: 1) => void', 'export declare const a: (c: 1, d?: 2) => void'],
  ['export declare const a: (b: 1) => void', 'export declare function a(b: 1 | 2): void'],
  ['export declare const a: () => 1 | 2', 'export declare const a: () => 1'],
  ['export declare const a: () => { b: 1 }', 'export declare const a: () => { b: 1; c: 2 }'],
  [
    'export declare const a: (b: (c: { d: 1 }) => void) => void',
    'export declare const a: (b: (c: { d: 1; e: 2 }, f: 3) => void) => void',
  ],
  [
    'interface B { c: 1 }\nexport declare const a: (b: B) => B',
    'interface D { c: 1 }\nexport declare const a: (b: D) => { c: 1 }',
  ],
  [
    'interface B { c?: B }\nexport declare const a: (b: B) => void',
    'interface B { c?: B; d?: B }\nexport declare const a: (b: B) => void',
  ],
  [
    'interface B { c: 1 }\nexport declare class A<B> { constructor(b: B) }',
    'interface B { c: 1; d: 1 }\nexport declare class A<B> { constructor(b: B) }',
  ],
  [
    'declare const all: { a: [1] }\nexport type Config = { [Name in keyof typeof all]: 1 }',
    'declare const all: { a: [1]; b: [2] }\nexport type Config = { [Name in keyof typeof all]: 1 }',
  ],
]

t.test('each change that breaks a product is named', async (t) => {
  for (const [before, after, named] of BREAKS) {
    const [first = '', ...others] = breaksIn(before, after)
    t.match(first, named, `${before} -> ${after}`)
    t.strictSame(others, [], before)
  }
})

t.test('an addition breaks nobody', async (t) => {
  for (const [before, after] of ADDITIONS)
    t.strictSame(breaksIn(before, after), [], `${before} -> ${after}`)
})

t.test('a changed door fails, until the version and the changelog say so', async (t) => {
  const door = released('engine')
  const [head = '', ...members] = door.split(/^(?=  readonly caller: string$)/m)
  const broken = [head, ...members.map((text) => text.replace('caller', 'user'))].join('')
  const reported = faults(door, broken, '1.1.0', '## 1.1.0\n\n- Breaking: user\n')
  t.strictSame(reported, ['RequestOf.caller: was removed'])
  const [unsaid] = faults(door, broken, '2.0.0', '## 2.0.0\n- Users\n## 1.0.0\n- Breaking: none')
  t.match(unsaid, /does not say what breaks/)
  t.strictSame(faults(door, broken, '2.0.0', '## 2.0.0 (2027-01-01)\n\n- Breaking: user'), [])
})

t.test(
  'each released door breaks no product by itself, and each loss in it is named',
  async (t) => {
    for (const name of doors.keys()) {
      const door = released(name)
      t.strictSame(breaksIn(door, door), [], name)
      for (const [, exported = ''] of door.matchAll(/^export (?:declare |abstract )*\w+ (\w+)/gm)) {
        const without = door.replace(
          new RegExp(`^export ((?:declare |abstract )*\\w+ ${exported}\\b)`, 'gm'),
          '$1',
        )
        t.match(breaksIn(door, without), [`${exported}: is no longer exported`], name)
      }
    }
  },
)

/** What is missing for a door to be released: the changes that break a product, and that nobody admits. */
function faults(before: string, after: string, version: string, changelog: string): string[] {
  const breaks = breaksIn(before, after)
  const [, old = ''] = /^\/\/ \S+ (\S+),/.exec(before) ?? []
  if (breaks.length === 0 || parseInt(version) <= parseInt(old)) return breaks
  const sections = changelog.split(/^## /m)
  const entry = sections.find((section) => section.split(/\s/, 1)[0] === version) ?? ''
  return /breaking/i.test(entry)
    ? []
    : [`CHANGELOG.md does not say what breaks in ${version}: "Breaking: ..."`]
}
