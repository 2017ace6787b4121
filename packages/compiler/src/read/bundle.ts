// Moves referenced parts of other files into the main one by Redocly's bundler, and writes the result as YAML.
import { bundle, type NormalizedProblem, type Oas3_1Definition } from '@redocly/openapi-core'
import { Document as YamlDocument, visit } from 'yaml'
import { isContainer, isObject, reachable } from '@plant-store/json-schema'
import { moveRefsIntoAllOf } from './keywords-beside-ref.ts'
import { bundlingConfig } from './lint.ts'
import type { File } from './source-locations.ts'
import type { FileResolver } from './yaml-files.ts'

export interface FileProblem {
  readonly file: File
  readonly problem: NormalizedProblem
}

/**
 * Moves referenced parts of other files into the main one.
 * @returns the dangling references
 * @throws {StartupError} if one of the files is no YAML
 */
export async function moveIntoMain(main: File, resolver: FileResolver): Promise<FileProblem[]> {
  const config = await bundlingConfig()
  const root = main.parsed as Oas3_1Definition
  moveRefsIntoAllOf(root)
  const unmoved = new Set(listComponents(root).map(({ pointer }) => pointer))
  const { problems } = await bundle({ doc: main, externalRefResolver: resolver, config })
  if (resolver.error) throw resolver.error
  renameComponents(root, unmoved)
  return problems.filter(hasEffect).map((problem) => {
    const path = problem.location[0]?.source.absoluteRef ?? main.source.absoluteRef
    return { file: resolver.files.get(path) ?? main, problem }
  })
}

function hasEffect({ severity, location: [first] }: NormalizedProblem): boolean {
  return severity === 'error' && !WITHOUT_EFFECT.test(first?.pointer ?? '')
}

/** Parts for people and clients only: their references may be dangling. */
const WITHOUT_EFFECT = /\/(discriminator\/mapping|examples)\//

interface Component {
  /** All components of its type, by name. */
  readonly container: Record<string, unknown>
  readonly name: string
  /** Without escapes, as the bundler writes it. */
  readonly pointer: string
}

function listComponents({ components = {} }: Oas3_1Definition): Component[] {
  const types = Object.entries<unknown>({ ...components })
  return types.flatMap(([type, container]) => {
    if (!isObject(container)) return []
    const toComponent = (name: string): Component => {
      const pointer = `#/components/${type}/${name}`
      return { container, name, pointer }
    }
    return Object.keys(container).map(toComponent)
  })
}

/**
 * Renames moved components to names allowed by OpenAPI: the bundler uses pointers and file names unchanged.
 * @param unmoved pointers of the original components of the main file
 */
function renameComponents(root: Oas3_1Definition, unmoved: ReadonlySet<string>): void {
  const renamed = new Map<unknown, string>()
  for (const { container, name, pointer } of listComponents(root)) {
    if (COMPONENT_NAME.test(name) || unmoved.has(pointer)) continue
    let allowed = name.replaceAll(/[^\w.-]+/g, '_')
    while (allowed in container) allowed += '_'
    container[allowed] = container[name]
    Reflect.deleteProperty(container, name)
    renamed.set(pointer, pointer.slice(0, -name.length) + allowed)
  }
  const nodes = reachable(root, () => undefined).filter(isContainer)
  for (const node of nodes)
    for (const [key, value] of Object.entries(node))
      if (renamed.has(value)) Reflect.set(node, key, renamed.get(value))
}

const COMPONENT_NAME = /^[\w.-]+$/

/**
 * Writes a document for readers of both YAML 1.1 and 1.2: with quotes around all strings but plain words, and with escapes for
 * characters YAML 1.1 forbids or takes for line breaks.
 */
export function writeYaml(root: unknown): string {
  const yaml = new YamlDocument(root)
  visit(yaml, {
    Scalar: (_, node) => {
      if (typeof node.value === 'string' && !WORD.test(node.value)) node.type = 'QUOTE_DOUBLE'
    },
  })
  const escape = (character: string) =>
    `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  return yaml
    .toString({ lineWidth: 0 })
    .replaceAll(/[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g, escape)
}

/** A plain word: no version of YAML takes it for a number, a date, a boolean or null. */
const WORD = /^(?!(y|n|yes|no|on|off|true|false|null)$)[$a-z]\w*$/i
