import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ForgeError } from '../../src/errors.ts'
import type { CampaignContext } from '../../src/engine/campaign/context.ts'
import { tickCampaign } from '../../src/engine/controller/tick.ts'
import { saveUnwrittenEvents, withSavedEvents } from '../../src/engine/controller/record.ts'
import { computeEventId, type EventDraft } from '../../src/model/event.ts'
import { buildCampaignRefs } from '../../src/model/ids.ts'
import { shorter, createSizeRepository } from '../support/size-repository.ts'
import { proven } from '../support/repository.ts'
import { releaseTest } from '../support/cases.ts'

const SERIAL = 'execution: { mode: serial }\n'

const failedDir = ({ dataDir }: CampaignContext) => join(dataDir, 'failed')

function filesOf(
  place: CampaignContext,
): { name: string; kinds: string[]; ledger: string; why: string; left_out: [] }[] {
  if (!existsSync(failedDir(place))) return []
  return readdirSync(failedDir(place)).map(name => {
    const text = readFileSync(join(failedDir(place), name), 'utf8')
    const { events, ...rest } = JSON.parse(text)
    return { name, kinds: events.map(({ kind }: { kind: string }) => kind), ...rest }
  })
}

/** A campaign with an order that was measured, whose remote takes nothing from now on. */
async function refused(how: string) {
  const here = await createSizeRepository([shorter('a', 3)], { remote: true, spec: SERIAL })
  await here.start()
  await here.until(({ experiments }) => experiments['exp-001']?.status === 'ordered')
  await (await here.hands()).runner.settled()
  here.hook('pre-receive', `echo "${how}" >&2; exit 1`)
  return here
}

describe('events that the remote refuses for good', () => {
  test('are saved in a named file; once the remote accepts them, all are recorded', async () => {
    const here = await refused('GH013: Repository rule violations found')
    for (let times = 0; times < 2; times++) {
      const failed: unknown = await here.tick().catch((error: unknown) => error)
      expect(failed).toBeInstanceOf(ForgeError)
      const [file] = filesOf(here.place)
      const said = ` in ${join(failedDir(here.place), file?.name ?? '')}`
      expect(failed).toMatchObject({ message: expect.stringContaining(said) })
    }
    // The same failure again is the same file.
    const [file, ...others] = filesOf(here.place)
    expect(others).toEqual([])
    expect(file).toMatchObject({ campaign: 'size', ledger: 'refs/heads/optimize-state/size', left_out: [] })
    expect(file?.kinds).toEqual(expect.arrayContaining(['measured', 'decided']))
    expect(file?.why).toContain('GH013')
    expect(await here.kinds()).not.toContain('decided')

    here.hook('pre-receive', null)
    expect(await here.run()).toEqual({ for: 'ideas' })
    expect(await here.outcomes()).toEqual({ a3: 'kept' })
    await proven(here.place)
  })

  releaseTest('are saved when a person asked for them as well', async () => {
    const here = await refused('no')
    const asked = here.person({ kind: 'campaign-paused', reason: 'a holiday', source: 'person' })
    await expect(asked).rejects.toThrow(/winnow saved 1 unwritten event in .*failed/)
    expect(filesOf(here.place)).toMatchObject([{ kinds: ['campaign-paused'] }])
  })

  test('are not saved by a command that only reads', async () => {
    const here = await refused('no')
    await expect(withSavedEvents(here.place, [], new Error('as it was'))).resolves.toMatchObject({
      message: 'as it was',
    })
    expect(filesOf(here.place)).toEqual([])
  })
})

releaseTest('are saved after 200 lost races', async () => {
  const here = await refused('no')
  const hands = await here.hands()
  const { repository } = here.place
  let waited = 0
  const place: CampaignContext = {
    ...here.place,
    clock: { ...here.place.clock, sleep: async () => void (waited += 1) },
    repository: {
      ...repository,
      push: async updates => ({ ok: false, reason: 'lease', refs: updates.map(({ ref }) => ref) }),
    },
  }
  await expect(tickCampaign({ ...hands, context: place })).rejects.toThrow(
    /other processes changed .* 201 times in a row .*\nwinnow saved \d+ unwritten events in /,
  )
  expect(waited).toBe(200)
  expect(filesOf(here.place)[0]?.kinds).toContain('measured')
})

describe('the file of unwritten events', () => {
  const note = (text: string): EventDraft<'note'> => ({ kind: 'note', cause: 'c', text, experiment: null })
  const texts = new Map<string, string>()
  const place = {
    name: 'size',
    refs: buildCampaignRefs('optimize', 'size'),
    by: { run_id: 'r', attempt: 1, actor: 'a' },
    keepUnwritten: async (name: string, text: string) => {
      texts.set(name, text)
      return 'here'
    },
  }

  test('has whole events while there is room, and lists the others', async () => {
    const large = note('x'.repeat(9 * 1024 * 1024))
    const drafts = [note('first'), large, note('last')]
    expect(await saveUnwrittenEvents(place, drafts, 'why')).toBe('winnow saved 3 unwritten events in here')
    const [text = ''] = texts.values()
    expect(JSON.parse(text)).toMatchObject({
      events: [{ text: 'first', id: computeEventId(note('first')) }, { text: 'last' }],
      left_out: [{ id: computeEventId(large), kind: 'note', bytes: expect.any(Number) }],
      why: 'why',
    })
    expect(text.length).toBeLessThan(10_000)
  })

  test('hides no other error when it cannot be written', async () => {
    const full = { ...place, keepUnwritten: () => Promise.reject(new Error('ENOSPC')) }
    const error = await withSavedEvents(full, [note('x')], new ForgeError('the push failed'))
    expect(error).toBeInstanceOf(ForgeError)
    expect(error).toMatchObject({
      message: 'the push failed\nwinnow could not save 1 unwritten event in a file either: ENOSPC',
    })
  })
})
