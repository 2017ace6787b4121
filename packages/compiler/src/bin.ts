#!/usr/bin/env node
// The command of the installed package: `npx @plant-store/compiler new FOLDER DOCUMENT` makes a service without a clone.
import { oneOf, runCommand } from '@plant-store/engine/for-commands'
import { newService } from './index.ts'

const USAGE = `usage: new <folder> <document>   makes a service of an OpenAPI document in a new folder
  new --help   prints the options`
const [command] = process.argv.slice(2)
if (command === 'new') {
  process.argv.splice(2, 1)
  await newService()
} else await runCommand(USAGE, ([word]) => Promise.resolve([oneOf(word, ['new'])]))
