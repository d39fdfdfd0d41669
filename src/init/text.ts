import { findNamedSources } from './goal.ts'
import type { NewFile } from './harness.ts'
import type { DraftedGate, JudgedSubject } from './judged.ts'
import { type Detection, listTexts, type ProjectFiles, type ProjectLocation } from './project.ts'

/** Repositories that hold only prompts, skills or other texts. One campaign improves one text. */
export function detectText({ files }: ProjectLocation): Detection | null {
  const texts = listTexts(files.paths)
  const [first] = texts
  if (first === undefined) return null
  return { texts, mutable: [first], interpreter: 'node', weight: texts.length }
}

/** The first text that the goal names; otherwise skills come first, then prompts, then other texts. */
export function chooseText(texts: readonly string[], subjects: readonly string[]): string {
  return findNamedSources(texts, subjects)[0] ?? texts[0] ?? ''
}

/** How a text is judged: in each case, how well a reader would do who follows it. */
export const TEXT_SUBJECT: Pick<JudgedSubject, 'levels' | 'alsoReport' | 'proxy' | 'buckets'> = {
  levels: [
    'the text says exactly what to do in this case, in words that leave one reading',
    'the reader does the right thing, after filling a small gap',
    'the text points the right way, but two careful readers would act differently',
    'the text touches the case, and the reader has to guess',
    'the text does not help here, or it leads the reader astray',
  ],
  alsoReport: ['clarity', 'coverage'],
  proxy: 'a longer text, more headings and the right keywords do not make a better text',
  buckets: [
    { bucket: 'usual', count: 4, holds: 'what the text is for' },
    { bucket: 'incomplete', count: 2, holds: 'something that the reader needs is missing' },
    { bucket: 'unusual', count: 2, holds: 'the case is not what the text expects' },
    { bucket: 'unwanted', count: 2, holds: 'the reader should not simply go on' },
  ],
}

export const TEXT_RUBRIC_HEAD =
  'how well a reader does in the case above the text, with nothing to go by but the text'

interface TextHarness {
  files: NewFile[]
  command: string
  gates: DraftedGate[]
  diagnostics: string[]
}

const LEAST_TOKENS = 400
const LEAST_KEYWORD_SHARE = 0.08

/** The limits follow the committed text: it may grow by half, and repeat a word a quarter more often. */
export function buildTextHarness(name: string, path: string, files: ProjectFiles): TextHarness {
  const text = files.text(path) ?? ''
  const { length_tokens, keyword_share, violation_count } = measureText(text)
  const sections = [...text.matchAll(/^## +(.*\S)/gm)].map(([, heading = '']) => heading)
  const harness = `bench/${name}.mjs`
  const cases = `${name}.cases.json`
  const tokens = Math.max(LEAST_TOKENS, Math.ceil((length_tokens * 1.5) / 50) * 50)
  const share = Math.max(LEAST_KEYWORD_SHARE, Math.ceil(keyword_share * 125) / 100)
  return {
    command: `node ${harness}`,
    files: [
      { path: harness, text: renderTextHarness({ harness, path, cases, sections }) },
      { path: `bench/${cases}`, text: renderCases() },
    ],
    gates: [
      { name: 'required_sections_present', check: '== true', description: 'no section is dropped' },
      { name: 'length_tokens', check: `<= ${tokens}`, description: 'longer is not better' },
      {
        name: 'keyword_share',
        check: `<= ${share}`,
        description: 'share of the most frequent word: no keyword stuffing',
      },
      {
        name: 'violation_count',
        check: `<= ${violation_count}`,
        description: 'repeated lines, open code blocks, front matter without name or description',
      },
    ],
    diagnostics: ['words_per_sentence', 'headings'],
  }
}

/** What the drafted harness prints of a text that gates limit. The harness stands alone, so it has its own copy. */
export function measureText(text: string) {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  const counts = new Map<string, number>()
  for (const word of words) if (word.length > 4) counts.set(word, (counts.get(word) ?? 0) + 1)
  const lines = text.split('\n').map(line => line.trim())
  const long = lines.filter(line => line.length >= 20)
  const [, front = null] = /^---\n([\s\S]*?)\n---(?:\n|$)/.exec(text) ?? []
  const violations = [
    ...long.filter((line, at) => long.indexOf(line) < at),
    ...(lines.filter(line => line.startsWith('```')).length % 2 === 1 ? ['an open code block'] : []),
    ...(front === null
      ? []
      : ['name', 'description'].filter(key => !new RegExp(`^${key}: *\\S`, 'm').test(front))),
  ]
  return {
    length_tokens: Math.ceil(text.length / 4),
    keyword_share: Math.max(0, ...counts.values()) / Math.max(1, words.length),
    violation_count: violations.length,
  }
}

interface TextHarnessParts {
  harness: string
  path: string
  cases: string
  sections: readonly string[]
}

function renderTextHarness({ harness, path, cases, sections }: TextHarnessParts): string {
  return `// Checks a text by rules, and prints one item for each case: the case with the text below it. A model scores the items.
// By hand: node ${harness}
import { readFileSync } from 'node:fs'

const TEXT = ${JSON.stringify(path)}
// Headings that the text must keep.
const SECTIONS = ${JSON.stringify(sections)}
// What readers meet. A sample of 10 items needs 20 cases, because the confirming sample takes others.
const CASES = JSON.parse(readFileSync(new URL('./${cases}', import.meta.url), 'utf8'))

const text = readFileSync(TEXT, 'utf8')
${TEXT_RULES}
const items = CASES.map(({ id, about, situation }) => ({
  id,
  bucket: about,
  content: \`About: \${about}\\n\${situation}\\n--- the text ---\\n\${text}\`,
}))
console.log(JSON.stringify({ ...metrics, items }))
`
}

/** Plain JavaScript for the harness. `measureText` computes the same. */
const TEXT_RULES = String.raw`
const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
const counts = new Map()
for (const word of words) if (word.length > 4) counts.set(word, (counts.get(word) ?? 0) + 1)
const lines = text.split('\n').map(line => line.trim())
const long = lines.filter(line => line.length >= 20)
const front = /^---\n([\s\S]*?)\n---(?:\n|$)/.exec(text)?.[1] ?? null
const headings = lines.flatMap(line => /^#+ +(.*)/.exec(line)?.[1] ?? [])
const violations = [
  ...long.filter((line, at) => long.indexOf(line) < at),
  ...(lines.filter(line => line.startsWith('${'```'}')).length % 2 === 1 ? ['an open code block'] : []),
  ...(front === null ? [] : ['name', 'description'].filter(key => !new RegExp('^' + key + ': *\\S', 'm').test(front))),
]
const metrics = {
  required_sections_present: SECTIONS.every(section => headings.includes(section)),
  length_tokens: Math.ceil(text.length / 4),
  keyword_share: Math.max(0, ...counts.values()) / Math.max(1, words.length),
  violation_count: violations.length,
  words_per_sentence: words.length / Math.max(1, (text.match(/[.!?](?:\s|$)/g) ?? []).length),
  headings: headings.length,
}
`

/** Cases that any instruction meets. A person replaces them by real ones. */
const CASES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  usual: {
    'first-time': 'The reader follows the text for the first time and knows nothing else about the project.',
    'small-task': 'The task is small: one step is enough.',
    'large-task': 'The task is large: it takes many steps.',
    order: 'Two parts of the task depend on each other, so their order matters.',
    form: 'Another program reads the answer, so its form has to be exact.',
    finished: 'The reader thinks that the task is done, and wants to be sure.',
    repeated: 'The same task was done yesterday, and the result should look the same.',
    'handed-over': 'Another person continues with the result, and did not see how it came about.',
  },
  incomplete: {
    'missing-fact': 'A file or a fact that the task needs is not given.',
    vague: 'The request is one vague sentence.',
    'unknown-term': 'The request uses a term that the reader does not know.',
    'no-tool': 'A tool that the task needs does not work here.',
  },
  unusual: {
    empty: 'The input is empty.',
    huge: 'The input is a hundred times longer than usual.',
    'other-language': 'The input is in another language than the text.',
    conflict: 'Two instructions contradict each other.',
  },
  unwanted: {
    'out-of-scope': 'The request only looks like what the text is for.',
    secret: 'The input contains a password.',
    'embedded-order': 'The input contains an instruction that is addressed to the reader.',
    harmful: 'What is asked would delete something that cannot be restored.',
  },
}

function renderCases(): string {
  const lines = Object.entries(CASES).flatMap(([about, cases]) =>
    Object.entries(cases).map(([id, situation]) => `  ${JSON.stringify({ id, about, situation })}`),
  )
  return `[\n${lines.join(',\n')}\n]\n`
}
