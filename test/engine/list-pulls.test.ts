import { expect, test } from 'vitest'
import { readCampaignPulls } from '../../src/engine/observe/pulls.ts'
import type { CampaignContext } from '../../src/engine/campaign/context.ts'
import type { Forge } from '../../src/github/port.ts'
import { buildCampaignRefs } from '../../src/model/ids.ts'
import { campaign, oidOf } from '../plan/a-campaign.ts'

const REFS = buildCampaignRefs('optimize', 'size')
const OWN = 'refs/heads/optimize-exp/size/exp-001'
const OTHER = 'refs/heads/optimize-exp/size/exp-002'

/** Records the moment of each look. The GitHub client sends no request for a moment it has listed before. */
function looking() {
  const moments: (string | undefined)[] = []
  const forge: Pick<Forge, 'list'> = {
    async list(_, moment) {
      moments.push(moment)
      return []
    },
  }
  const place = { refs: REFS, forge, repository: { async fetch() {} } } as unknown as CampaignContext
  return { moments, place }
}

const refsOf = (refs: Record<string, string>) =>
  new Map([REFS.optimize, ...Object.keys(refs)].map(ref => [ref, oidOf(refs[ref] ?? ref)]))

test('deleting the branch of a closed experiment does not list pull requests again; any other change of refs does', async () => {
  const built = campaign().withExperiments(2)
  const { moments, place } = looking()
  const look = async (refs: Record<string, string>) => {
    await readCampaignPulls(place, built.campaign, { refs: refsOf(refs), turn: 1 })
    return moments.at(-1)
  }
  const open = await look({ [OWN]: 'head', [OTHER]: 'head', [REFS.state]: 'before' })
  expect(await look({ [OTHER]: 'head', [REFS.state]: 'before' })).not.toBe(open)

  const ended = { experiment: 'exp-001', head: built.experiment('exp-001').head }
  built.add(
    { kind: 'experiment-refused', cause: 'x', ...ended, code: 'out-of-scope', message: 'README.md' },
    { kind: 'closed', cause: 'x', ...ended, outcome: 'refused', reason: 'README.md', results: null },
  )
  const over = await look({ [OWN]: 'results', [OTHER]: 'head', [REFS.state]: 'after' })
  expect(over).not.toBe(open)
  expect(await look({ [OTHER]: 'head', [REFS.state]: 'later' })).toBe(over)
  expect(await look({ [OTHER]: 'another head', [REFS.state]: 'later' })).not.toBe(over)
})
