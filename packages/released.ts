// `npm run released`: writes the released doors of the packages to `packages/*/released.d.ts`, for test/released-doors.test.ts.
import { writeFileSync } from 'node:fs'
import { declaredDoors, manifestOf } from './doors.ts'

for (const [name, text] of await declaredDoors()) {
  const title = `// @plant-store/${name} ${manifestOf('.').version}, written by \`npm run released\``
  writeFileSync(new URL(`${name}/released.d.ts`, import.meta.url), `${title}\n${text}`)
}
