import { toOneLine } from '../model/text.ts'
import type { LocalQuestion } from './local-model.ts'

/** What the model does more, or otherwise, where the prompts have these words. */
const HABITS = [
  { words: 'every note', effect: 'a line for every note' },
  { words: 'two lines', effect: 'two lines, whatever else the prompts say' },
  { words: 'unit', effect: 'the unit behind each number' },
  { words: 'source', effect: 'the note that each line comes from' },
  { words: 'only the card', effect: 'no greeting' },
] as const

interface Lesson {
  artifact: string
  /** The line that is added to the text. */
  line: string
  /** What the model says that it expects, right or wrong. */
  expected: number
}

const STUFFING =
  'Units, sources, every note, only the card. '.repeat(3) +
  'Unit, source, unit, source, every note. '.repeat(6)

/** Characters of a line that lists show. */
const SHOWN = 70

/** An artifact gets its first line that is neither in its text nor named as tried. */
export const FACT_CARD_LESSONS: readonly Lesson[] = [
  { artifact: 'manager_planning_preamble', line: 'Plan a line for every note.', expected: 0.25 },
  { artifact: 'manager_planning_preamble', line: 'Keep it short: two lines are enough.', expected: 0.18 },
  { artifact: 'worker_pitfalls', line: 'Give each number with its unit.', expected: 0.2 },
  { artifact: 'worker_pitfalls', line: STUFFING.trim(), expected: 0.5 },
  { artifact: 'worker_pitfalls', line: 'End each line with its source, such as [O1].', expected: 0.15 },
]

/** Printed before a demo, so that a person can predict every answer. */
export function describeFactCardRule(): string[] {
  return [
    'A local model answers by this rule. As worker it greets, and writes a line with a bare number for each of the first',
    'three notes. With these words in the prompts it does otherwise:',
    ...HABITS.map(({ words, effect }) => `  ${words.padEnd(14)} ${effect}`),
    'As optimiser it offers the next of these lines, with the reduction of the loss that it says to expect:',
    ...FACT_CARD_LESSONS.map(
      ({ artifact, line, expected }) =>
        `  ${artifact.padEnd(26)} ${expected.toFixed(2)}  ${toOneLine(line, SHOWN)}`,
    ),
  ]
}

/** The whole rule: one function of the question. */
export function applyFactCardRule({ system, user }: LocalQuestion): string {
  const [, artifact] = /^Artifact: (\S+)$/m.exec(user) ?? []
  if (artifact !== undefined) return addLesson(artifact, user)
  const notes = [...user.matchAll(NOTE)]
  if (notes.length === 0) throw new Error('this model only writes cards from notes and improves an artifact')
  return writeCard(notes, system, user.includes('Rejected:'))
}

// The worker

/** As the harness of `fixtures/fact-cards` shows it: the text up to the number, the number, the rest. */
const NOTE = /^\[(\w+)\] (.*? )(\d[\d.]*)( .*)\.$/gm

function writeCard(notes: readonly RegExpExecArray[], system: string, isRejected: boolean): string {
  const says = ({ words }: (typeof HABITS)[number]) => system.toLowerCase().includes(words)
  const [all, two, units, sources, bare] = HABITS.map(says)
  const lines = notes.slice(0, two ? 2 : all ? notes.length : 3).map(([, id, text, number, unit]) => {
    return `- ${text}${number}${units ? unit : ''}${sources ? ` [${id}]` : ''}`
  })
  return [...(bare || isRejected ? [] : ['Here is the card:']), ...lines].join('\n')
}

// The optimiser

function addLesson(artifact: string, user: string): string {
  const lesson = FACT_CARD_LESSONS.find(
    ({ artifact: name, line }) => name === artifact && !user.includes(line.slice(0, SHOWN - 1)),
  )
  const [, , content] = /^([0-9a-f]{32})\n([\s\S]*?)\n\1$/m.exec(user) ?? []
  if (lesson === undefined || content === undefined) return JSON.stringify({ artifact_name: null })
  return JSON.stringify({
    artifact_name: artifact,
    proposed_content: `${content.trimEnd()}\n${lesson.line}\n`,
    rationale: `add: ${toOneLine(lesson.line, SHOWN)}`,
    expected_loss_reduction: lesson.expected,
    confidence: 0.8,
  })
}
