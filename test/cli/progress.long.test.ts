import { describe, expect, it } from 'vitest'
import { type Campaign, createEmptyCampaign } from '../../src/model/campaign.ts'
import { parseEvent } from '../../src/model/event.ts'
import { fold } from '../../src/model/fold/fold.ts'
import { renderCampaignPullBody } from '../../src/report/campaign-pull-request.ts'
import { noisyProject } from './noisy-project.ts'
import { FILES, offer, type Project, project, proven, SPEC } from './project.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

function letters(count: number): string {
  return `${'a'.repeat(count - 1)}\n`
}

async function campaignOf(person: Project): Promise<Campaign> {
  const { out } = await person.winnow('log', '--json')
  const events = out.trim().split('\n')
  return fold(
    createEmptyCampaign(),
    events.map(line => parseEvent(JSON.parse(line))),
  )
}

/** Everything that tells of the progress, by where it is read. */
async function told(person: Project): Promise<Record<string, string>> {
  const view = (name: string) => person.git('show', `optimize-state/size:${name}`)
  const status = await person.winnow('status')
  const answer = (await person.json('status')) as { progress: { text: string } }
  const chart = /<text class="head"[^>]*>(.*?)<\/text>/.exec(view('chart.svg'))?.[1] ?? ''
  return {
    status: /^ {2}progress: (.*)$/m.exec(status.out)?.[1] ?? '',
    json: answer.progress.text,
    readme: (/^\*\*Progress: (.*)\.\*\*$/m.exec(view('README.md'))?.[1] ?? '').replaceAll('\\', ''),
    digest: (/ Progress: (.*)\.$/m.exec(view('digest.md'))?.[1] ?? '').replaceAll('\\', ''),
    pull: /^### .*?([\d.]+ %) /m.exec(renderCampaignPullBody(await campaignOf(person)))?.[1] ?? '',
    badge: /<title>size: (.*) · running<\/title>/.exec(view('badge.svg'))?.[1] ?? '',
    chart: /, by experiment: (.*)$/.exec(chart)?.[1] ?? '',
  }
}

function everywhere(text: string, gain: string): Record<string, string> {
  const whole = { status: text, json: text, readme: text, digest: text, pull: gain.replace(/^-/, '') }
  return { ...whole, badge: gain, chart: gain }
}

describe('the progress of a campaign', () => {
  it('is one number everywhere, over a sync that brings something else', async () => {
    const person = project({ ...FILES, 'src/value': letters(900) })
    await person.winnow('run')
    await offer(person, letters(500))
    const first = await person.winnow('run')
    expect(first.out).toContain('Since the baseline: bytes 900 -> 500 (-44.4 %).')
    expect(await told(person)).toEqual(everywhere('bytes 900 -> 500 (-44.4 %)', '-44.4 %'))

    person.commit('only words', { 'README.md': 'hello\n' })
    expect((await person.winnow('run')).out).toContain('Since the baseline: bytes 900 -> 500 (-44.4 %).')
    await offer(person, letters(400), [], 'optimize/size')
    const last = await person.winnow('run')
    expect(last.err).toContain('Kept: bytes 500 -> 400 (-20.0 %)')
    expect(last.out).toContain('Since the baseline: bytes 900 -> 400 (-55.6 %).')
    expect(await told(person)).toEqual(everywhere('bytes 900 -> 400 (-55.6 %)', '-55.6 %'))

    const status = await person.json('status')
    expect(status).toMatchObject({
      progress: {
        by: 'numbers',
        stretches: [{ from: 900, to: 400 }],
        change: -0.555555555556,
        not_measured: [],
      },
      baseline: { metrics: { bytes: 900 } },
      incumbent: { metrics: { bytes: 400 } },
    })
    expect((await person.winnow('show', '2')).out).toMatch(/metrics +bytes 400/)
    expect((await person.winnow('results', '2')).out).toMatch(/base: 500\n +candidate: 400/)
    await proven(person)
  })

  it('goes on over a default branch that has the kept changes already', async () => {
    const person = project({ ...FILES, 'src/value': letters(900) })
    await person.winnow('run')
    await offer(person, letters(500))
    await person.winnow('run')
    person.git('merge', '-q', 'optimize/size')
    person.commit('and more', { 'README.md': 'hello\n' })
    await person.winnow('run')
    const { out } = await person.winnow('log', '--json')
    expect(out).toContain('"holds":["exp-001"]')
    await offer(person, letters(400), [], 'optimize/size')
    await person.winnow('run')
    expect(await told(person)).toEqual(everywhere('bytes 900 -> 400 (-55.6 %)', '-55.6 %'))
    await proven(person)
  })

  releaseTest('credits nothing that the default branch brought', async () => {
    const value = (count: number, other: number) => ({
      'src/value': letters(count),
      'src/other': letters(other),
    })
    const files = {
      ...FILES,
      'bench/size.sh': 'echo "{\\"bytes\\": $(cat src/value src/other | wc -c)}"\n',
      ...value(700, 200),
    }
    const person = project(files)
    await person.winnow('run')
    await offer(person, letters(300))
    await person.winnow('run')
    person.commit('faster by ourselves', { 'src/other': letters(100) })
    await offer(person, letters(200), [], 'optimize/size')
    const { out } = await person.winnow('run')
    expect(out).toContain('Since the baseline: bytes 900 -> 500, 400 -> 300 (-58.3 % in all).')
    const [text, gain] = ['bytes 900 -> 500, 400 -> 300 (-58.3 % in all)', '-58.3 %']
    expect(await told(person)).toEqual(everywhere(text, gain))
    await proven(person)
  })
})

describe('the progress of a noisy campaign', () => {
  releaseTest(
    'is not measured by medians of different hours, then by pairs, and as a whole by winnow stop',
    async () => {
      const person = noisyProject()
      person.write('src/ms', '400000\n')
      expect((await person.winnow('try', '-m', 'far less')).code).toBe(0)
      const progress = async () => /^ {2}progress: (.*)$/m.exec((await person.winnow('status')).out)?.[1]
      expect(await progress()).toMatch(/^ms .* % lower when it was kept, not measured again yet$/)
      expect(await person.json('status')).toMatchObject({
        progress: { by: 'not measured', effect: null, not_measured: ['exp-001'] },
      })

      const stopped = await person.winnow('stop', '-m', 'enough')
      expect(stopped.code).toBe(0)
      expect(stopped.err).toMatch(/^Measuring the total effect of the kept changes, in 8 jobs, about /m)
      const said = /^Since the baseline: (.*)\.$/m.exec(stopped.out)?.[1] ?? ''
      expect(said).toMatch(/^ms (59|6[01])\.\d % lower \(.* to .* %\) than [0-9a-f]{12}, 64 pairs$/)
      expect(await progress()).toBe(said)
      const view = (name: string) => person.git('show', `optimize-state/ms:${name}`)
      expect(view('README.md').replaceAll('\\', '')).toContain(`**Progress: ${said}.**`)
      const gain = /<title>ms: (-[\d.]+ %) · stopped<\/title>/.exec(view('badge.svg'))?.[1] ?? ''
      expect(said).toContain(`${gain.slice(1)} lower`)
      expect(view('chart.svg')).toContain(`by experiment: ${gain}`)
      expect((await person.winnow('stop')).out).toContain('was already stopped')
      await proven(person)
    },
  )
})

describe('several samples of one metric', () => {
  /** Prints the next of four values at every run, behind another metric. */
  const harness = [
    'n=$(cat "$HOME/n" 2>/dev/null || echo 0)',
    'echo $((n + 1)) > "$HOME/n"',
    'set -- $(cat src/value)',
    'shift $((n % 4))',
    'echo "{\\"zeros\\": 0, \\"m\\": $1}"',
    '',
  ].join('\n')

  it.each(
    selectCases([
      ['mean', 30, 22, '-26.7 %'],
      ['min', 10, 4, '-60.0 %'],
      ['max', 70, 40, '-42.9 %'],
      ['median', 20, 22, null],
    ]),
  )(
    'are one number by %s, for the verdict and everywhere it is shown',
    async (aggregation, from, to, gain) => {
      const stability = `stability: { mode: repeat, repeat_count: 4, aggregation: ${aggregation}, noise_threshold: 0 }`
      const person = project({
        '.winnow/size.yaml': SPEC.replace('name: bytes', 'name: m').replace(
          'sh bench/size.sh',
          `sh bench/size.sh, env: [HOME], baseline: cached, ${stability}`,
        ),
        'bench/size.sh': harness,
        'src/value': '10 20 20 70\n',
      })
      await person.winnow('run')
      await offer(person, '4 22 22 40\n')
      const run = await person.winnow('run')
      expect(run.err).toMatch(new RegExp(`^measured: exp-001 m ${to}, zeros 0$`, 'm'))
      expect((await person.winnow('show', '1')).out).toMatch(new RegExp(`metrics +m ${to}, zeros 0`))
      expect((await person.winnow('results', '1')).out).toMatch(
        new RegExp(`m:\\n +base: ${from}\\n +candidate: ${to}\\n`),
      )
      const status = await person.winnow('status')
      expect(status.out).toMatch(new RegExp(`^ {2}baseline +\\S+ +m ${from}, zeros 0$`, 'm'))
      expect((await person.winnow('log')).out).toContain(`: m ${from}, zeros 0`)
      if (gain === null) return expect(run.err).not.toContain('Kept')
      expect(run.err).toContain(`Kept: m ${from} -> ${to} (${gain})`)
      expect(await told(person)).toEqual(everywhere(`m ${from} -> ${to} (${gain})`, gain))
      await proven(person)
    },
  )
})
