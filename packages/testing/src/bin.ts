#!/usr/bin/env node
// The command `test-service`.
import { runTests } from './index.ts'

await runTests()
