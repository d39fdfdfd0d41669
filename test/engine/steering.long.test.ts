import { describe, expect, it } from 'vitest'
import { applyAmendment } from '../../src/engine/campaign/start.ts'
import type { Campaign } from '../../src/model/campaign.ts'
import { renderRunSummary } from '../../src/report/run-summary.ts'
import { letters, SIZE_SPEC, shorter, createSizeRepository } from '../support/size-repository.ts'
import { patchOf } from '../support/repository.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

const SERIAL = 'execution: { mode: serial }\n'
const isOrdered = ({ experiments }: Campaign) => experiments['exp-001']?.status === 'ordered'

describe('a paused campaign', () => {
  it('decides nothing until it is resumed, and loses no measurement', async () => {
    const site = await createSizeRepository([shorter('a', 3)])
    await site.start()
    await site.until(isOrdered)
    await site.person({ kind: 'campaign-paused', reason: 'lunch', source: 'person' })
    expect(await site.run()).toEqual({ for: 'person', what: 'the campaign is paused: lunch' })
    expect((await site.experiment('a3')).status).toBe('measured')
    expect(await site.kinds()).not.toContain('decided')

    await site.person({ kind: 'campaign-resumed', reason: 'back' })
    expect(await site.run()).toEqual({ for: 'ideas' })
    expect(await site.outcomes()).toEqual({ a3: 'kept' })
    const orders = (await site.events()).filter(
      event => event.kind === 'order-issued' && event.purpose === 'experiment',
    )
    expect(orders).toHaveLength(1)
    await site.proven()
  })
})

describe('a stopped campaign', () => {
  it('puts queued experiments back, and offers them again after a resumption', async () => {
    const site = await createSizeRepository(
      [patchOf({ 'src/d.txt': [null, 'slow\n'] }, { hypothesis: 'slow' }), shorter('a', 3)],
      { spec: SERIAL },
    )
    await site.start()
    await site.until(isOrdered)
    await site.person({ kind: 'campaign-stopped', code: 'person', reason: 'enough' })
    expect(await site.run()).toEqual({ for: 'nothing', reason: 'enough' })
    expect(await site.outcomes()).toEqual({ slow: null, a3: null })
    expect(await site.reasonOf('slow')).toBe('the campaign stopped (enough) before it was measured')
    expect(site.bare('for-each-ref', 'refs/heads/optimize-exp').split('\n')).toHaveLength(2)
    expect(await site.run()).toEqual({ for: 'nothing', reason: 'enough' })
    await site.person({ kind: 'steered', action: 'withdraw', experiment: 'exp-001', reason: 'too slow' })
    expect(await site.run()).toEqual({ for: 'nothing', reason: 'enough' })
    expect(await site.outcomes()).toEqual({ slow: 'withdrawn', a3: null })

    site.write('ideas/04.patch', shorter('c', 3))
    site.commit('an idea for a stopped campaign')
    const waiting = await site.run()
    expect(waiting).toEqual({ for: 'nothing', reason: 'enough', ideas: 1 })
    expect(renderRunSummary(await site.campaign(), waiting)).toContain(
      '2 ideas were not measured (exp-002, 1 new). To continue, winnow resume: the next winnow run then measures the waiting ideas.',
    )

    await site.person({ kind: 'campaign-resumed', reason: 'not enough' })
    site.write('ideas/03.patch', shorter('b', 3))
    site.commit('one more idea')
    expect(await site.run()).toEqual({ for: 'ideas' })
    expect(await site.outcomes()).toEqual({
      slow: 'withdrawn',
      a3: 'kept',
      b3: expect.stringMatching(/kept/),
      c3: expect.stringMatching(/kept/),
    })
    await site.proven()
  })
})

const BROKEN = patchOf({ 'src/d.txt': [null, 'crash\n'] }, { hypothesis: 'crashes' })
const LONGER = patchOf({ 'src/d.txt': [null, 'd\n'] }, { hypothesis: 'longer' })
const RULES = [
  { rule: 'max_iterations: 1', ideas: [shorter('a', 3), shorter('b', 3)], why: '1 experiment ended' },
  { rule: 'plateau: 1', ideas: [LONGER, shorter('b', 3)], why: '1 experiment without a new incumbent' },
  {
    rule: 'max_failures: 1',
    ideas: [BROKEN, shorter('b', 3)],
    why: '1 experiment crashed or ran out of time',
  },
]

describe('a stopping rule', () => {
  it.each(selectCases(RULES))('$rule ends the campaign between rounds', async ({ rule, ideas, why }) => {
    const site = await createSizeRepository(ideas, { spec: `${SERIAL}stopping: { ${rule} }\n` })
    await site.start()
    const code = rule.slice(0, rule.indexOf(':'))
    expect(await site.run()).toEqual({ for: 'nothing', reason: `${why} (stopping.${code})` })
    expect((await site.events()).findLast(({ kind }) => kind === 'campaign-stopped')).toMatchObject({ code })
    const { experiments } = await site.campaign()
    expect(Object.values(experiments).map(({ status }) => status)).toEqual(['ended', 'queued'])
    await site.proven()
  })

  releaseTest('of a raised limit measures the waiting ideas', async () => {
    const limit = (most: number) => `${SERIAL}stopping: { max_iterations: ${most} }\n`
    const site = await createSizeRepository([shorter('a', 3), shorter('b', 3), shorter('c', 3)], {
      spec: limit(1),
    })
    await site.start()
    await site.run()
    const stopped = await site.campaign()
    const reason = stopped.status_reason ?? ''
    expect(renderRunSummary(stopped, { for: 'nothing', reason }).join('\n')).toContain(
      '2 ideas were not measured (exp-002, exp-003). To continue, raise stopping.max_iterations in .winnow/size.yaml',
    )
    expect(await site.outcomes()).toEqual({ a3: 'kept', b3: null, c3: null })
    site.write('.winnow/size.yaml', `${SIZE_SPEC}${limit(9)}`)
    site.commit('go on')
    expect(await site.run()).toEqual({ for: 'ideas' })
    expect(await site.outcomes()).toEqual({ a3: 'kept', b3: 'kept', c3: 'kept' })
    expect(site.bare('show', 'optimize/size:src/c.txt')).toBe('ccc')
    await site.proven()
  })

  releaseTest('target_reached ends it when the incumbent reaches the target', async () => {
    const site = await createSizeRepository([shorter('a', 3), shorter('b', 3)], {
      spec: text => `${text.replace('direction: minimize', 'direction: minimize, target: 40')}${SERIAL}`,
    })
    await site.start()
    expect(await site.run()).toEqual({ for: 'nothing', reason: 'every declared target is reached' })
    expect(await site.outcomes()).toEqual({ a3: 'kept', b3: null })
    await site.proven()
  })
})

describe('a fresh start', () => {
  it('archives the whole campaign, and continues the numbers', async () => {
    const site = await createSizeRepository([shorter('a', 3), shorter('b', 40)], { remote: true })
    await site.start()
    await site.run()
    const before = Object.fromEntries(
      ['optimize', 'state', 'closed'].map(role => [
        role,
        site.bare('rev-parse', role === 'optimize' ? 'optimize/size' : `optimize-${role}/size`),
      ]),
    )
    await site.start({ fresh: true })

    const archived = site.bare(
      'for-each-ref',
      '--format=%(objectname) %(refname:lstrip=5)',
      'refs/heads/optimize-archive',
    )
    expect(archived.split('\n').toSorted()).toEqual(
      Object.entries(before)
        .map(([role, oid]) => `${oid} ${role}`)
        .toSorted(),
    )
    expect(site.bare('rev-parse', 'optimize/size')).toBe(site.bare('rev-parse', 'main'))
    expect(await site.campaign()).toMatchObject({ seq: 1, next_number: 3, experiments: {} })

    await site.run()
    expect(Object.keys((await site.campaign()).experiments)).toEqual(['exp-003', 'exp-004'])
    expect(await site.outcomes()).toEqual({ a3: 'kept', b40: 'dropped' })
    await site.proven()
  })

  releaseTest('needs no campaign, and works again and again', async () => {
    const site = await createSizeRepository([shorter('a', 3)])
    for (const number of ['exp-001', 'exp-002', 'exp-003']) {
      await site.start({ fresh: true })
      await site.run()
      expect(Object.keys((await site.campaign()).experiments)).toEqual([number])
    }
    await site.proven()
  })

  releaseTest('does not take over a branch of another person', async () => {
    const site = await createSizeRepository([])
    site.git('branch', 'optimize/size')
    await expect(site.start()).rejects.toThrow(
      'optimize/size exists without the ledger branch optimize-state/size',
    )
  })
})

describe('an amended spec', () => {
  it('is in the ledger with the reason; another ruler has the incumbent measured again', async () => {
    const site = await createSizeRepository([shorter('a', 3)], { remote: true })
    await site.start()
    await site.run()
    const before = await site.campaign()
    const yaml = SIZE_SPEC.replace('bench/test.sh', 'bench/test.sh strictly')
    expect(await applyAmendment(site.place, { yaml, reason: 'stricter' })).toEqual({ measuredAnew: true })
    expect(await site.campaign()).toMatchObject({ calibration: null, baseline: null, trees: {}, proven: {} })
    site.push(site.commitOn('optimize/size', { 'src/b.txt': letters('b', 2) }, 'mine'), 'optimize-exp/size/b')

    expect(await site.run()).toEqual({ for: 'ideas' })
    const after = await site.campaign()
    expect(after.calibration?.order).not.toBe(before.calibration?.order)
    expect(after.baseline?.harness).toBe(after.harness)
    expect(await site.outcomes()).toEqual({ a3: 'kept', mine: 'kept' })
    expect((await site.events()).find(({ kind }) => kind === 'campaign-amended')).toMatchObject({
      source: 'person',
      reason: 'stricter',
    })
    await site.proven()
  })

  releaseTest('with the same measurement keeps the evidence', async () => {
    const site = await createSizeRepository([shorter('a', 3)])
    await site.start()
    await site.run()
    const { baseline } = await site.campaign()
    const yaml = `${SIZE_SPEC}stopping: { max_hours: 3 }\n`
    expect(await applyAmendment(site.place, { yaml, reason: 'shorter' })).toEqual({ measuredAnew: false })
    expect((await site.campaign()).baseline).toEqual(baseline)
    expect(await site.run()).toEqual({ for: 'ideas' })
    await site.proven()
  })

  releaseTest('is refused when it changes nothing, or asks for an impossible change', async () => {
    const site = await createSizeRepository([])
    await site.start()
    const amended = (yaml: string) => applyAmendment(site.place, { yaml, reason: 'why not' })
    await expect(amended(SIZE_SPEC)).rejects.toThrow('this spec is already in force')
    await expect(amended(`${SIZE_SPEC}name: other\n`)).rejects.toThrow(
      'it is now named other, and the campaign size',
    )
    await expect(amended(`${SIZE_SPEC}branches: { prefix: faster }\n`)).rejects.toThrow(
      'its branches.prefix is now faster, and that of the campaign optimize',
    )
    await expect(amended(`${SIZE_SPEC}gate: 1\n`)).rejects.toThrow(/\.winnow\/size\.yaml:8:1.*gate/s)
    await expect(amended(`${SIZE_SPEC}epochs: { count: 2 }\n`)).rejects.toThrow('epochs')
  })
})
