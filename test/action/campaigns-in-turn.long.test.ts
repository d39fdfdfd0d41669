import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SIZE_SPEC } from '../support/size-repository.ts'
import { scratch } from '../git/scratch.ts'
import { campaignOnGithub } from '../github/campaign-on-github.ts'
import { WORKFLOW_FILE } from '../github/tick-job.ts'
import { releaseTest } from '../support/cases.ts'

const ELEVEN_MINUTES = 11 * 60_000

/** Two campaigns, and wake-ups that have no time left for the second one after a dispatch. */
async function twoCampaigns() {
  const { github, wake } = await campaignOnGithub({ '.winnow/other.yaml': SIZE_SPEC })
  let passed = 0
  const clock = { now: Date.now, monotonic: () => performance.now() + passed, sleep: async () => {} }
  const dispatched: (() => void)[] = []
  /** What is dispatched takes longer than a wake-up may begin campaigns for. */
  const faults = {
    reach: (point: string) => {
      if (point !== 'after:dispatch') return
      passed += ELEVEN_MINUTES
      for (const listener of dispatched) listener()
    },
  }
  async function wakeUp(number: number) {
    const file = join(scratch(), 'output')
    const env = { GITHUB_RUN_NUMBER: String(number), GITHUB_OUTPUT: file }
    const { code, out } = await wake({ env, around: { clock, faults } })
    const [, json = ''] = /^result-json<<(?:.*)\n(.*)\n/m.exec(readFileSync(file, 'utf8')) ?? []
    const result: unknown = JSON.parse(json)
    return { code, out, result, ran: github.world.runs.map(({ branch }) => branch) }
  }
  return { github, wakeUp, dispatched }
}

test('campaigns take turns under one budget: who is left over has a run of its own, and comes first at the next wake-up', {
  timeout: 240_000,
}, async () => {
  const { wakeUp } = await twoCampaigns()
  const first = await wakeUp(10)
  expect(first.result).toMatchObject({ campaigns: [{ campaign: 'other' }], later: ['size'], broken: [] })
  expect([first.code, first.ran]).toEqual([0, ['optimize/other']])
  expect(first.out).toMatch(/^Left for the next run: size\.$/m)
  const second = await wakeUp(11)
  expect(second.result).toMatchObject({ campaigns: [{ campaign: 'size' }], later: ['other'] })
  // The campaign that has begun is not left to the schedule; its run looks at it alone, and so leaves none over.
  expect([second.code, second.ran]).toEqual([0, ['optimize/other', 'optimize/size', 'optimize/other']])
  expect(second.out).toMatch(
    /^Started a separate run for other, because this run is out of time: run \d+ \(other: look for work\)\.$/m,
  )
  const third = await wakeUp(12)
  expect(third.result).toMatchObject({ campaigns: [{ campaign: 'other' }, { campaign: 'size' }], later: [] })
})

test('the outputs of a run stay when GitHub refuses the run of a campaign that is left over', {
  timeout: 240_000,
}, async () => {
  const { github, wakeUp, dispatched } = await twoCampaigns()
  await wakeUp(10)
  dispatched.push(() => github.world.workflowStates.set(WORKFLOW_FILE, 'disabled_manually'))
  const { code, out, result } = await wakeUp(11)
  expect([code, out]).toEqual([69, expect.stringContaining('Workflow is disabled')])
  expect(result).toMatchObject({ campaigns: [{ campaign: 'size' }], later: ['other'], broken: [] })
})

releaseTest(
  'a settling job leaves over no campaign whose programs or models answered in its run',
  {
    timeout: 240_000,
  },
  async () => {
    const { wake } = await campaignOnGithub({ '.winnow/other.yaml': SIZE_SPEC })
    await wake()
    const outputs = { campaign: '', orders: '', propose: 'size', judge: 'other' }
    const answered = { result: 'success', outputs: { digest: 'd'.repeat(64) } }
    const jobs = { tick: { result: 'success', outputs }, propose: answered, judge: answered }
    let passed = 0
    // The second campaign is due after the budget of the run.
    const monotonic = () => (passed += ELEVEN_MINUTES / 2)
    const clock = { now: Date.now, monotonic, sleep: async () => {} }
    const file = join(scratch(), 'output')
    const env = { INPUT_COMMAND: 'settle', INPUT_JOBS: JSON.stringify(jobs), GITHUB_OUTPUT: file }
    const { code, out } = await wake({ env, around: { clock } })
    const [, json = ''] = /^result-json<<(?:.*)\n(.*)\n/m.exec(readFileSync(file, 'utf8')) ?? []
    const result: unknown = JSON.parse(json)
    expect(result).toMatchObject({ campaigns: [{ campaign: 'other' }, { campaign: 'size' }], later: [] })
    expect([code, out]).toEqual([0, expect.not.stringContaining('out of time')])
  },
)
