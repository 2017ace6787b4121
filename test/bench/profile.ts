// `npm run bench -- --profile <case>`: the layers in which a process spends its time while it answers.
import { globSync, readFileSync, statSync } from 'node:fs'

/** A profile as `node --cpu-prof` writes it: https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile */
interface Profile {
  readonly nodes: readonly ProfileNode[]
  /** The node of each sample. */
  readonly samples: readonly number[]
  /** Microseconds since the sample before. */
  readonly timeDeltas: readonly number[]
}
interface ProfileNode {
  readonly id: number
  readonly callFrame: { readonly functionName: string; readonly url: string }
  readonly children?: readonly number[]
}

/** The layers, and the files of each. A file belongs to its first match. */
const LAYERS: readonly (readonly [layer: string, files: RegExp])[] = [
  ['JSON', /engine\/src\/http\/json\.ts/],
  ['metrics', /prom-client|(http|ops)\/metrics|http\/request-durations/],
  ['log', /\/pino|sonic-boom|http\/request-(log|lines)|engine\/src\/ops/],
  ['auth', /engine\/src\/auth|bearer-auth|internal\/crypto/],
  ['schema', /json-schema\/src|ajv-formats|contract\/items|input\/strings/],
  ['body and parameters', /operation\/input/],
  ['answer', /operation\/output|error-forms|http\/error-answers/],
  ['store', /store\/src|node:sqlite|node_modules\/(pg|lru-cache)/],
  ['hooks', /engine\/src/],
  ['Fastify', /node_modules/],
  ['HTTP', /^node:/],
  ['method', /./],
]
/** V8's built-in functions. The process waits in `(idle)`, which is no layer. */
const OF_V8 = new Map([
  ['(garbage collector)', 'garbage collector'],
  ['(program)', 'native code'],
  ['(root)', 'native code'],
  ['(idle)', undefined],
])

/** Reads the profile of the service from a folder: it is the largest one, because a worker writes one, too. */
export function readProfile(folder: string): Profile {
  const files = globSync(`${folder}/*.cpuprofile`)
  const [largest = ''] = files.toSorted((left, right) => statSync(right).size - statSync(left).size)
  return JSON.parse(readFileSync(largest, 'utf8')) as Profile // as Node wrote it
}

/** A table of the layers in Markdown, the slowest one first, with its share of the working time of the process. */
export function layersOf(profile: Profile): string {
  const times = timesOf(profile)
  const total = times.values().reduce((sum, time) => sum + time, 0)
  const sorted = [...times].toSorted(([, left], [, right]) => right - left)
  const rows = sorted.map(
    ([layer, time]) => `| ${layer} | ${((100 * time) / total).toFixed(1)} % |`,
  )
  return ['| layer | share |', '| --- | --- |', ...rows].join('\n')
}

function timesOf({ nodes, samples, timeDeltas }: Profile): Map<string, number> {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map<number, number>()
  for (const { id, children = [] } of nodes) for (const child of children) parents.set(child, id)
  /** A function without a file is native: it counts for the layer of its caller. */
  const layerOf = (id: number): string | undefined => {
    const { functionName = '', url = '' } = byId.get(id)?.callFrame ?? {}
    if (OF_V8.has(functionName)) return OF_V8.get(functionName)
    if (url !== '') return LAYERS.find(([, files]) => files.test(url))?.[0]
    const parent = parents.get(id)
    return parent === undefined ? 'native code' : layerOf(parent)
  }
  const times = new Map<string, number>()
  for (const [index, id] of samples.entries()) {
    const layer = layerOf(id)
    if (layer === undefined) continue
    times.set(layer, (times.get(layer) ?? 0) + (timeDeltas[index] ?? 0))
  }
  return times
}
