import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { findRegisteredRun } from '../../src/engine/controller/run.ts'
import { readLocalRunId } from '../../src/engine/jobs/machine-lock.ts'
import { scratch } from '../git/scratch.ts'

it('finds a live run beside a registration that is still being written, and removes neither', async () => {
  const dataDir = scratch('winnow-runs-')
  const directory = join(dataDir, 'campaigns', 'size', 'present')
  mkdirSync(directory, { recursive: true })
  const [half, whole, damaged] = ['1.json.part', '2.json', '0.json'].map(name => join(directory, name))
  writeFileSync(half ?? '', '{"run_id":"loc')
  writeFileSync(damaged ?? '', 'no JSON')
  writeFileSync(whole ?? '', JSON.stringify({ run_id: await readLocalRunId(), pid: process.pid }))
  expect(await findRegisteredRun(dataDir)).toEqual({ campaign: 'size', pid: process.pid })
  expect([half, whole, damaged].map(file => existsSync(file ?? ''))).toEqual([true, true, false])
})
