import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { planCampaign } from '../../src/plan/stages.ts'
import { violations } from './chain.ts'
import { FILES, happen, happening, ideas, specs, WINNOW } from './happenings.ts'
import { type Idea, Site } from './plan-site.ts'

/** A person resumes what is paused, a few times, and in the end stops what still waits for them. */
function finish(site: Site): void {
  for (let times = 0; times < 4; times++) {
    site.run()
    if (site.campaign.status === 'stopped') return
    site.ledger.add({ kind: 'campaign-resumed', cause: `resume ${times}`, reason: '' })
  }
  site.run()
  site.ledger.add({ kind: 'campaign-stopped', cause: 'person', code: 'person', reason: 'enough' })
  site.run()
}

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const member of value instanceof Map ? value.values() : Object.values(value)) frozen(member)
  return Object.freeze(value)
}

function ends(site: Site) {
  return Object.values(site.campaign.experiments).map(({ id, outcome, verdict, reason, measured_tree }) => [
    id,
    outcome,
    verdict,
    reason,
    measured_tree,
  ])
}

describe('a campaign carried by plan alone', () => {
  it('comes to rest whatever happens to it, and its ledger holds together', () => {
    fc.assert(
      fc.property(
        specs,
        ideas,
        fc.array(happening, { maxLength: 60, size: 'max' }),
        (spec, proposed, happenings) => {
          const site = new Site({ spec, files: FILES, ideas: proposed })
          for (const [nonce, event] of happenings.entries()) happen(site, event, nonce)
          finish(site)
          expect(violations(site.ledger.events)).toEqual([])
          const underWay = Object.values(site.campaign.experiments).filter(({ status }) =>
            ['ordered', 'measured', 'landing', 'not-proven'].includes(status),
          )
          expect(underWay).toEqual([])
          const alone = Object.values(site.campaign.picks)
          expect(alone.filter(({ outcome }) => outcome === null)).toEqual([])
          const { waiting, actions } = planCampaign(site.look())
          // A change that was asked for alone is measured after the stop; what stands in its way is for a person again.
          const rest = site.campaign.extra_round === null ? 'nothing' : 'person'
          expect({ actions, waiting }).toMatchObject({ actions: [], waiting: { for: rest } })
        },
      ),
      { numRuns: 120 },
    )
  })

  it('ends the same with crashes between any two actions as without', () => {
    fc.assert(
      fc.property(specs, ideas, fc.infiniteStream(fc.nat(5)), (spec, proposed, cuts) => {
        const calm = new Site({ spec, files: FILES, ideas: proposed })
        calm.run()
        const shaken = new Site({ spec, files: FILES, ideas: proposed })
        for (let crashes = 0; crashes < 40; crashes++) {
          const cut = cuts.next().value
          if (shaken.step(action => action === cut)) shaken.kill(() => false)
          if (cut % 2 === 0) shaken.measure()
        }
        shaken.run()
        expect(violations(shaken.ledger.events)).toEqual([])
        expect(ends(shaken)).toEqual(ends(calm))
        expect(shaken.campaign.incumbent.tree).toBe(calm.campaign.incumbent.tree)
        expect(shaken.campaign.status_reason).toBe(calm.campaign.status_reason)
      }),
      { numRuns: 60 },
    )
  })

  it('is planned purely: the same look gives the same plan, and nothing looked at is touched', () => {
    fc.assert(
      fc.property(
        specs,
        ideas,
        fc.array(happening, { maxLength: 25, size: 'max' }),
        (spec, proposed, happenings) => {
          const site = new Site({ spec, files: FILES, ideas: proposed })
          for (const [nonce, event] of happenings.entries()) {
            happen(site, event, nonce)
            const world = frozen(structuredClone(site.look()))
            expect(planCampaign(world)).toEqual(planCampaign(structuredClone(world)))
          }
        },
      ),
      { numRuns: 25 },
    )
  })

  it('ends experiments in many ways at once', () => {
    const idea = (name: string, files: Record<string, string>): Idea => ({
      name,
      files,
      category: name,
      priority: 'medium',
    })
    const site = new Site({
      spec: WINNOW('execution: { max_concurrent: 8 }\nmerge: { max_open_experiments: 20 }\n'),
      files: FILES,
      ideas: [
        idea('best', { 'src/a': '', 'src/e': 'x' }),
        idea('beside', { 'src/b': 'x' }),
        idea('overlapping', { 'src/a': 'xxx' }),
        idea('longer', { 'src/c': 'x'.repeat(20) }),
        idea('breaking', { 'src/c': 'gate-fails' }),
        idea('hanging', { 'src/d': 'hangs' }),
        idea('crashing', { 'src/d': 'crashes' }),
        idea('cheating', { 'bench/run': 'echo 0' }),
        idea('twin', { 'src/b': 'x' }),
      ],
    })
    site.run()
    expect(
      Object.values(site.campaign.experiments).map(({ hypothesis, outcome }) => [hypothesis, outcome]),
    ).toEqual([
      ['best', 'runner_up_kept'],
      ['beside', 'kept'],
      ['overlapping', 'not_selected'],
      ['longer', 'dropped'],
      ['breaking', 'degenerate'],
      ['hanging', 'timeout'],
      ['crashing', 'error'],
      ['cheating', 'refused'],
      ['twin', 'refused'],
    ])
  })
})
