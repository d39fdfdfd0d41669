import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { buildTextHarness } from '../../src/init/text.ts'
import { createProjectFiles } from '../../src/init/project.ts'
import { applySkillRule, listShownQualities } from '../../src/judge/skill-rule.ts'
import { buildSkillSpec, FIXTURE_SAMPLE, playSkillCampaign, SKILL_CASES } from '../../bench/decide/skill.ts'
import { playMany } from '../../bench/decide/case.ts'
import { seeded } from '../../bench/decide/random.ts'
import { parseSpec } from '../../src/spec/load.ts'
import { scratch } from '../git/scratch.ts'

const FIXTURE = new URL('../../fixtures/skill', import.meta.url).pathname
const PATH = 'skills/bug-reports/SKILL.md'
const SKILL = readFileSync(join(FIXTURE, PATH), 'utf8')
const { spec } = parseSpec(readFileSync(join(FIXTURE, '.winnow/skill.yaml'), 'utf8'), { file: 'skill.yaml' })

type PrintedSkill = Record<string, unknown> & { items: { id: string; bucket: string; content: string }[] }

function runHarness(change: (dir: string) => void): PrintedSkill {
  const dir = scratch()
  cpSync(FIXTURE, dir, { recursive: true })
  change(dir)
  const out = execFileSync('sh', ['-c', spec.measurement.command], { cwd: dir, encoding: 'utf8' })
  return JSON.parse(out) as PrintedSkill
}

function applyStuffedPatch(dir: string): void {
  const patch = readFileSync(join(FIXTURE, 'ideas/01-more-keywords.patch'), 'utf8')
  writeFileSync(join(dir, 'stuffed.patch'), patch.slice(patch.indexOf('diff --git')))
  execFileSync('git', ['apply', 'stuffed.patch'], { cwd: dir })
}

function computeMeanScore({ items }: PrintedSkill): number {
  const mark = 'f'.repeat(32)
  const shown = items.map(({ content }, at) => {
    const key = at.toString(16).padStart(8, '0')
    return `BEGIN ${mark} ${key}\n${content}\nEND ${mark} ${key}`
  })
  const answer = applySkillRule({ model: 'm', system: `"BEGIN ${mark} <item>"`, user: shown.join('\n\n') })
  const { scores } = JSON.parse(answer) as { scores: { quality: number }[] }
  expect(scores).toHaveLength(items.length)
  return scores.reduce((sum, { quality }) => sum + quality, 0) / scores.length
}

function listFailedGates(printed: PrintedSkill): string[] {
  return spec.metric.degenerate_gates.flatMap(({ name, check }) => {
    const [operator, limit] = check.split(' ')
    const value = printed[name]
    return (operator === '<=' ? Number(value) <= Number(limit) : String(value) === limit) ? [] : [name]
  })
}

describe('a hundred campaigns of the skill', () => {
  const cases = SKILL_CASES.filter(({ sample, noise }) => sample === FIXTURE_SAMPLE && noise.score < 0.5)

  it('are decided by the settings of the fixture', () => {
    const played = buildSkillSpec(FIXTURE_SAMPLE)
    expect(played.evidence).toEqual(spec.evidence)
    expect(played.stopping).toEqual(spec.stopping)
    const { rubric: _, model: _model, scoring: _scoring, ...settings } = spec.metric.judge ?? {}
    expect(played.metric.judge).toMatchObject(settings)
  })

  it.each(cases.map(each => [each.name, each] as const))(
    'keep a change of words at most once, and an improvement at least 80 times: %s',
    (name, each) => {
      const tally = playMany(100, seeded('skill', name), { play: random => playSkillCampaign(each, random) })
      expect(tally['false']).toBeLessThanOrEqual(1)
      if (each.added.length > 0) expect(tally['real']).toBeGreaterThanOrEqual(80)
    },
    60_000,
  )
})

describe('the skill campaign', () => {
  it('uses the harness that init drafts for such a repository', () => {
    const files = createProjectFiles([PATH], new Map([[PATH, SKILL]]))
    const drafted = buildTextHarness('skill', PATH, files)
    expect(readFileSync(join(FIXTURE, 'bench/skill.mjs'), 'utf8')).toBe(drafted.files[0]?.text)
    expect(drafted.gates.map(({ name, check }) => ({ name, check }))).toEqual(
      spec.metric.degenerate_gates.map(({ name, check }) => ({ name, check })),
    )
  })

  it('has two samples of every bucket', () => {
    const { items } = runHarness(() => {})
    for (const { bucket, count } of spec.metric.judge?.stratification ?? [])
      expect(items.filter(item => item.bucket === bucket).length).toBeGreaterThanOrEqual(2 * count)
    expect(new Set(items.map(({ id }) => id)).size).toBe(items.length)
  })

  it('passes its gates at the start, and every quality raises its score', () => {
    const start = runHarness(() => {})
    expect([listFailedGates(start), computeMeanScore(start), listShownQualities(SKILL)]).toEqual([[], 1, []])
    const user = `\nBEGIN SKILL\n${SKILL}END SKILL`
    const { text } = JSON.parse(applySkillRule({ model: 'm', system: '', user })) as { text: string }
    const better = runHarness(dir => writeFileSync(join(dir, PATH), text))
    expect([listFailedGates(better), computeMeanScore(better)]).toEqual([[], expect.closeTo(1.8, 9)])
  })

  it('would deceive its judge with keywords, and does not pass the gates', () => {
    const stuffed = runHarness(applyStuffedPatch)
    expect(computeMeanScore(stuffed)).toBe(5)
    expect(listFailedGates(stuffed)).toEqual(['length_tokens', 'keyword_share'])
  })
})
