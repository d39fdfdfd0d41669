import { appendFileSync } from 'node:fs'
import { once } from 'node:events'
import { basename } from 'node:path'
import { claimFreeWorkDir } from '../../src/engine/jobs/worker-slots.ts'
import { releaseWorkDir } from '../../src/measure/process/leftovers.ts'

/** Claims a work directory again and again: `node work-dir-process.mjs <under> <log> <times>`. */
const [under = '', log = '', times = '1'] = process.argv.slice(2)
process.stdout.write('ready\n')
await once(process.stdin, 'data')
process.stdin.destroy()
for (let round = 0; round < Number(times); round++) {
  const workDir = await claimFreeWorkDir(under, 0)
  appendFileSync(log, `in ${basename(workDir)} ${process.pid}\n`)
  await new Promise(resolve => setTimeout(resolve, 1))
  appendFileSync(log, `out ${basename(workDir)} ${process.pid}\n`)
  await releaseWorkDir(workDir)
}
