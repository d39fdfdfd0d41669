import { type JudgedItem, listJudgedItems, type LocalQuestion, renderScores } from './local-model.ts'

/** A quality of a skill that the rule can find in its text. */
interface SkillQuality {
  name: string
  /** Words for people: what the rule looks for. */
  shown: string
  isShown: (text: string) => boolean
  /** What the writer adds, below this heading. */
  heading: string
  lines: readonly string[]
}

export const SKILL_QUALITIES: readonly SkillQuality[] = [
  {
    name: 'steps',
    shown: 'three numbered steps',
    isShown: text => (text.match(/^\d+\. \S/gm) ?? []).length >= 3,
    heading: 'Steps',
    lines: [
      '1. Name the program, its version and the system that it runs on.',
      '2. Write the shortest list of actions after which the bug shows, starting from nothing.',
      '3. Quote what happened word for word, and say what should have happened instead.',
    ],
  },
  {
    name: 'questions',
    shown: 'a sentence "If … is missing, ask …"',
    isShown: text => /\bIf [^.\n]{3,80} (?:is|are) (?:missing|unclear), ask\b/.test(text),
    heading: 'Questions',
    lines: ['If the version or the exact message is missing, ask for it before you write. Ask one question.'],
  },
  {
    name: 'example',
    shown: 'a section Example with quoted lines',
    isShown: text => /^## Example\n(?:[^#\n][^\n]*\n|\n)*> \S/m.test(text),
    heading: 'Example',
    lines: [
      '> Import fails on an empty file. Version 2.3.1, Linux.',
      '> Run `app import empty.csv`. It prints "row 1: undefined". It should print "0 rows imported".',
    ],
  },
  {
    name: 'limits',
    shown: 'a line that starts with "Do not" or "Never"',
    isShown: text => /^(?:[-*] )?(?:Do not|Never) \S/m.test(text),
    heading: 'Limits',
    lines: ['- Do not guess a cause without a sign of it.', '- Never put passwords or names into a report.'],
  },
  {
    name: 'check',
    shown: 'a sentence "Before you answer, …"',
    isShown: text => /^(?:[-*] )?Before you answer, \S/m.test(text),
    heading: 'Check',
    lines: [
      'Before you answer, follow the steps of the report as if you knew nothing else. Fix what stops you.',
    ],
  },
]

/** Printed before a demo, so that a person can predict every answer. */
export function describeSkillRule(): string[] {
  return [
    'A local model answers by this rule. It looks for five qualities in the text of a skill:',
    ...SKILL_QUALITIES.map(({ name, shown }) => `  ${name.padEnd(10)} ${shown}`),
    'As judge it scores each case: 1, plus 1.2 for the quality that the case is about, plus 0.7 for each other one.',
    'As writer it adds the first quality that is missing and was not tried yet.',
  ]
}

/** The whole rule: one function of the question. */
export function applySkillRule(question: LocalQuestion): string {
  const items = listJudgedItems(question)
  if (items.length > 0) return renderScores(items, scoreCase)
  const skill = readSkill(question.user)
  if (skill === null) throw new Error('this model only scores items and improves the text after BEGIN SKILL')
  return addQuality(skill, question.user.replace(skill, ''))
}

export function listShownQualities(text: string): string[] {
  return SKILL_QUALITIES.filter(({ isShown }) => isShown(text)).map(({ name }) => name)
}

/** The item is a case with the text below it, as the harness of `fixtures/skill` prints it. */
function scoreCase({ content }: JudgedItem): Record<string, number> {
  const [, about = '', text = ''] =
    /^About: (\w+)\n(?:[\s\S]*?)\n--- the text ---\n([\s\S]*)$/.exec(content) ?? []
  const shown = listShownQualities(text)
  return {
    quality: computeCaseScore(shown, about),
    coverage: shown.length,
    clarity: shown.includes('steps') ? 4 : 2,
  }
}

/** From 1, without any quality, to 5, with all of them. */
export function computeCaseScore(shown: readonly string[], about: string): number {
  const others = shown.filter(name => name !== about).length
  return 1 + (shown.includes(about) ? 1.2 : 0) + 0.7 * others
}

function readSkill(user: string): string | null {
  return /^BEGIN SKILL\n([\s\S]*?\n)END SKILL$/m.exec(user)?.[1] ?? null
}

/** `brief` names what was tried. Without a missing quality, the text stays as it is. */
function addQuality(text: string, brief: string): string {
  const missing = SKILL_QUALITIES.find(
    ({ name, isShown }) => !isShown(text) && !brief.includes(formatHypothesis(name)),
  )
  if (missing === undefined) return JSON.stringify({ hypothesis: 'nothing is missing', text })
  const { name, heading, lines } = missing
  const section = `## ${heading}\n\n${lines.join('\n')}\n`
  const own = new RegExp(`^## ${heading}\\n[\\s\\S]*?(?=^## |$(?![\\s\\S]))`, 'm')
  const better = own.test(text)
    ? text.replace(own, `${section}\n`).trimEnd()
    : `${text.trimEnd()}\n\n${section.trimEnd()}`
  return JSON.stringify({ hypothesis: formatHypothesis(name), category: name, text: `${better}\n` })
}

function formatHypothesis(name: string): string {
  return `add what is missing: ${name}`
}
