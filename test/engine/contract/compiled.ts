import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'

/**
 * Compiles pieces of TypeScript, each in a file of its own in a folder.
 * @param head what each file begins with
 * @returns the errors of each piece; '' if it has none
 */
export function errorsOf(folder: string, head: string, pieces: readonly string[]): string[] {
  for (const [index, piece] of pieces.entries())
    writeFileSync(`${folder}/piece${index}.ts`, `${head}${piece}\nexport {}\n`)
  const compilerOptions = { noUnusedLocals: false, types: ['node'] }
  const settings = { extends: resolve('tsconfig.json'), include: ['*.ts'], compilerOptions }
  writeFileSync(`${folder}/tsconfig.json`, JSON.stringify(settings))
  const words = ['node_modules/typescript/bin/tsc', '-p', folder]
  const { stdout } = spawnSync(process.execPath, words, { encoding: 'utf8' })
  const errors = stdout.split(/\n(?=\S)/)
  return pieces.map((_, index) => errors.filter((error) => error.includes(`/piece${index}.ts(`)).join('\n'))
}
