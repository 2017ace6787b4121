// Moves the parts of other files to which a document refers into it, and writes it as one file. Redocly's bundler changes the
// document in place: the locations of its objects must be stored again.
import { bundle, type NormalizedProblem, type Oas3_1Definition } from '@redocly/openapi-core'
import { Document as YamlDocument, visit } from 'yaml'
import { isContainer, isObject, reachable } from '@plant-store/json-schema'
import { moveRefsIntoAllOf } from './keywords-beside-ref.ts'
import { bundlingConfig } from './lint.ts'
import type { File } from './source-locations.ts'
import type { FileResolver } from './yaml-files.ts'

/** A problem of a file that Redocly reports. */
export interface FileProblem {
  readonly file: File
  readonly problem: NormalizedProblem
}

/**
 * Moves the parts of other files to which the main file refers into it.
 * @returns the references that lead nowhere
 * @throws {StartupError} if one of the files is no YAML
 */
export async function moveIntoMain(main: File, resolver: FileResolver): Promise<FileProblem[]> {
  const config = await bundlingConfig()
  const root = main.parsed as Oas3_1Definition
  moveRefsIntoAllOf(root)
  const own = new Set(listComponents(root).map(({ pointer }) => pointer))
  const { problems } = await bundle({ doc: main, externalRefResolver: resolver, config })
  if (resolver.error) throw resolver.error
  renameComponents(root, own)
  return problems.filter(hasEffect).map((problem) => {
    const path = problem.location[0]?.source.absoluteRef ?? main.source.absoluteRef
    return { file: resolver.files.get(path) ?? main, problem }
  })
}

function hasEffect({ severity, location: [first] }: NormalizedProblem): boolean {
  return severity === 'error' && !WITHOUT_EFFECT.test(first?.pointer ?? '')
}

/** The parts that only people and clients read: a reference in them may lead nowhere. */
const WITHOUT_EFFECT = /\/(discriminator\/mapping|examples)\//

/** A component of a document. */
interface Component {
  /** The components of its type, by name. */
  readonly container: Record<string, unknown>
  readonly name: string
  /** As the bundler writes it: without escapes. */
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
 * Gives components names that OpenAPI allows: the bundler takes the parts of pointers and the names of files as they are.
 * @param own the pointers of the components that were in the main file before
 */
function renameComponents(root: Oas3_1Definition, own: ReadonlySet<string>): void {
  const renamed = new Map<unknown, string>()
  for (const { container, name, pointer } of listComponents(root)) {
    if (COMPONENT_NAME.test(name) || own.has(pointer)) continue
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
 * Writes a document for readers of YAML 1.1 and 1.2. All texts but plain words have quotes. Characters that only YAML 1.1 takes
 * for line breaks, or does not allow, are escaped.
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

/** A text that no reader of YAML takes for a number, a date, a boolean or null. */
const WORD = /^(?!(y|n|yes|no|on|off|true|false|null)$)[$a-z]\w*$/i
