import { expect } from 'vitest'
import { releaseTest } from '../support/cases.ts'
import { campaignOnGithub } from './campaign-on-github.ts'

const SPEC = `winnow: 1
metric: { primary: { name: ms, direction: minimize } }
measurement: { command: sh bench/run.sh, probes: off }
gates: [{ name: tests, command: test -s src/work }]
scope: { mutable: [src/] }
evidence: { pairs_per_job: 4, max_jobs: 3, min_effect: 0.05 }
`
/** A number that repeats to one per cent. */
const FILES = {
  'bench/run.sh': `noise=$(od -An -N2 -tu2 /dev/urandom | tr -d ' ')
echo "{\\"ms\\": $(( $(wc -c < src/work) * 10000 + noise ))}"
`,
  'src/work': `${'work '.repeat(100)}\n`,
}

releaseTest('a campaign whose jobs all run on one machine ends with a verdict, and says so', async () => {
  const { github, settle, offers, openClient } = await campaignOnGithub(FILES, SPEC)
  await settle()
  await offers('half', { 'src/work': `${'work '.repeat(50)}\n` })
  await settle()

  const { experiments, machine, calibration } = await (await openClient()).campaign()
  expect(calibration).toMatchObject({ deterministic: false })
  expect(machine).toMatchObject({ in_a_row: machine.reports })
  const { outcome, single_machine, reason } = experiments['exp-001'] ?? {}
  expect([outcome, single_machine]).toEqual(['kept', true])
  expect(reason).toContain(', on this machine')
  const said = github.world.comments.map(({ body }) => body).join('\n')
  expect(said).toMatch(/\*\*Kept: .* on this machine/)
  expect(said).not.toContain('used up')
})
