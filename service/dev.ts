// `npm run dev`: runs dev.app.ts, which reads a changed contract by itself; on a change of the code it is started anew.
import { type ChildProcess, fork } from 'node:child_process'
import { watch } from 'node:fs'
import { fileURLToPath } from 'node:url'

const APP = fileURLToPath(import.meta.resolve('./dev.app.ts'))
const CACHE = fileURLToPath(import.meta.resolve('../.dev/cache'))

let app: ChildProcess | undefined
const start = setTimeout(() => {
  app?.kill()
  app = fork(APP, { env: { ...process.env, NODE_COMPILE_CACHE: CACHE } })
}, 50) // Editors write a file in several steps.

watch(import.meta.dirname, (_event, file) => {
  // The generated types mean nothing while it runs.
  if (file?.endsWith('.ts') === true && !file.endsWith('.gen.ts')) start.refresh()
})
