/** A kind of output that only a reader can judge: what to sample, how to score it, what to rule out beforehand. */
export interface JudgedSubject {
  name: string
  pattern: RegExp
  /** What one item is. */
  item: string
  /** Parts of the output in which quality differs, with the items that a sample takes from each. */
  buckets: readonly SampleBucket[]
  /** From the best level to the worst. */
  levels: readonly [string, string, string, string, string]
  /** Further fields, logged only. */
  alsoReport: readonly string[]
  /** Catch degenerate outputs. The drafted harness computes them from its items, or names what to print. */
  gates: readonly DraftedGate[]
  diagnostics: readonly string[]
  /** A number that could replace the judged metric, if the right answers are known. */
  countedAs: string | null
  /** What a single number for this quality misses. */
  proxy: string
}

interface SampleBucket {
  bucket: string
  count: number
  /** For the person who fills it. */
  holds: string
}

export interface DraftedGate {
  name: string
  check: string
  description: string
}

/** First-run caps: enough to see whether rubric and harness work, for little money. */
export const FIRST_RUN = { items: 10, batch: 5, iterations: 4, hours: 1, usd: 5 }

/** The drafted harness computes these from the items that it prints. */
const ITEM_GATES: readonly DraftedGate[] = [
  { name: 'answered', check: `>= ${2 * FIRST_RUN.items}`, description: 'items that are not empty' },
  { name: 'distinct_share', check: '>= 0.5', description: 'not the same answer to everything' },
]

export const JUDGED_SUBJECTS: readonly JudgedSubject[] = [
  {
    name: 'clusters',
    pattern: /\bcluster\w*\b/,
    item: 'one cluster: the titles of its members',
    buckets: [
      { bucket: 'top_by_size', count: 4, holds: 'the largest clusters, which may be wrong merges' },
      { bucket: 'mid_range', count: 3, holds: 'clusters of usual size' },
      { bucket: 'small_clusters', count: 3, holds: 'clusters of two or three members' },
    ],
    levels: [
      'all members are clearly about the same issue or feature',
      'a strong theme with minor outliers',
      'related, but it covers several topics that could reasonably be split',
      'a weak connection: the members share words, not a subject',
      'unrelated members grouped together',
    ],
    alsoReport: ['distinct_topics', 'outlier_count'],
    gates: [
      { name: 'solo_share', check: '<= 0.95', description: 'not every member alone in its cluster' },
      { name: 'largest_share', check: '<= 0.5', description: 'not everything in one cluster' },
    ],
    diagnostics: ['mean_characters'],
    countedAs: 'with items whose groups are known, how far they agree: {"adjusted_rand": 0.8}',
    proxy: 'more or larger clusters are not better clusters',
  },
  {
    name: 'recommendations',
    pattern: /\brecommend\w*\b/,
    item: 'one person with what was recommended',
    buckets: [
      { bucket: 'known', count: 4, holds: 'people with a long history' },
      { bucket: 'new', count: 3, holds: 'people with almost none' },
      { bucket: 'unusual', count: 3, holds: 'people with rare interests' },
    ],
    levels: [
      'every recommendation fits the person, and some are no obvious choices',
      'most fit, none is absurd',
      'some fit, the others are what everyone gets',
      'one fits by chance',
      'none fits, or all repeat what the person has',
    ],
    alsoReport: ['fitting', 'repeated'],
    gates: ITEM_GATES,
    diagnostics: ['mean_characters'],
    countedAs: 'with choices that people made, how many are found: {"hit_rate": 0.4}',
    proxy: 'a hit rate rewards what everyone takes anyway',
  },
  {
    name: 'search results',
    pattern: /\b(?:relevan(?:t|ce)|ranking|search results?|search quality)\b/,
    item: 'one query with its first results',
    buckets: [
      { bucket: 'frequent', count: 4, holds: 'queries that many people type' },
      { bucket: 'tail', count: 3, holds: 'rare or long queries' },
      { bucket: 'unclear', count: 3, holds: 'queries with a typing error or two meanings' },
    ],
    levels: [
      'the first result is what the person looks for, and none of the first three is off',
      'the answer is among the first three',
      'the answer is there, below results that do not help',
      'only loosely related results',
      'no result has to do with the query',
    ],
    alsoReport: ['relevant_results', 'off_topic_results'],
    gates: [{ name: 'empty_share', check: '<= 0.2', description: 'queries without a result' }, ...ITEM_GATES],
    diagnostics: ['mean_characters'],
    countedAs: 'with queries whose right answers are known, how high those are: {"ndcg": 0.7}',
    proxy: 'more clicks or more results are not more relevant results',
  },
  {
    name: 'summaries',
    pattern: /\bsummar(?:y|ies|i[sz]\w+)\b/,
    item: 'one document, cut to its relevant part, and its summary',
    buckets: [
      { bucket: 'short', count: 3, holds: 'short documents' },
      { bucket: 'long', count: 4, holds: 'long documents' },
      { bucket: 'multi_topic', count: 3, holds: 'documents on several topics' },
    ],
    levels: [
      'every main point is there, nothing is wrong, and nothing could be left out',
      'one minor point is missing or superfluous',
      'a main point is missing, or the weight is wrong',
      'several main points are missing, or a detail is wrong',
      'it misleads, or it says something that the document does not say',
    ],
    alsoReport: ['missing_points', 'unsupported_claims'],
    gates: [
      { name: 'length_share', check: '<= 0.4', description: 'summary by document: a copy is no summary' },
      ...ITEM_GATES,
    ],
    diagnostics: ['mean_characters'],
    countedAs: null,
    proxy: 'overlap of words and shortness are not faithfulness',
  },
  {
    name: 'translations',
    pattern: /\btranslat\w*\b/,
    item: 'one text with its translation',
    buckets: [
      { bucket: 'plain', count: 4, holds: 'plain sentences' },
      { bucket: 'idiom', count: 3, holds: 'idioms and names' },
      { bucket: 'long', count: 3, holds: 'long sentences' },
    ],
    levels: [
      'it says exactly the same, as a native speaker would',
      'the same meaning, with one unnatural phrase',
      'the meaning is there, and the reader stumbles',
      'a part of the meaning is lost or wrong',
      'the meaning is wrong, or it is not translated',
    ],
    alsoReport: ['wrong_meanings'],
    gates: ITEM_GATES,
    diagnostics: ['mean_characters'],
    countedAs: 'with reference translations, how near it is: {"bleu": 31.2}',
    proxy: 'nearness to one reference punishes other good translations',
  },
]

/** For every other text or output. */
export const ANY_OUTPUT: JudgedSubject = {
  name: 'outputs',
  pattern: /(?:)/,
  item: 'one input with the output for it',
  buckets: [
    { bucket: 'usual', count: 4, holds: 'what people ask most' },
    { bucket: 'difficult', count: 3, holds: 'long, unclear or contradictory inputs' },
    { bucket: 'edge', count: 3, holds: 'empty, wrong or unwanted inputs' },
  ],
  levels: [
    'it reaches the goal, and a person would change nothing',
    'it reaches the goal, and a person would change one detail',
    'it reaches a part of the goal, and a person would rewrite a part',
    'it has to do with the input, and a person would start again',
    'it does not help, or it misleads',
  ],
  alsoReport: ['mistakes'],
  gates: ITEM_GATES,
  diagnostics: ['mean_characters'],
  countedAs: null,
  proxy: 'length, counts of words and the share of answers say little about how good an answer is',
}

export function findJudgedSubject(words: string): JudgedSubject {
  return JUDGED_SUBJECTS.find(({ pattern }) => pattern.test(words.toLowerCase())) ?? ANY_OUTPUT
}

/** Levels that two judges would read alike. Names no other range, because the range is the scale. */
export function renderRubric(
  goal: string | null,
  subject: string,
  { levels, alsoReport }: Pick<JudgedSubject, 'levels' | 'alsoReport'>,
): string {
  const lines = [
    `Score 1 to 5 ${subject}.${goal === null ? '' : ` The goal: ${goal}.`}`,
    ...levels.map((level, at) => `- ${levels.length - at}: ${level}`),
    'Longer is not better: repetition and lists of keywords count against it.',
    `Also report: ${alsoReport.join(', ')} (numbers).`,
  ]
  return `${lines.join('\n')}\n`
}

/** The comment above the metric of a judged spec. */
export function renderTiers({ proxy }: Pick<JudgedSubject, 'proxy'>, beside: string | null): string[] {
  return [
    'Three tiers decide:',
    '1. Gates (degenerate_gates, gates) are rules. They run first; what fails one is broken, and no model is paid for it.',
    '2. The judge is what the campaign improves: a model scores a sample of the items by the rubric.',
    '3. Diagnostics are logged and decide nothing. They help to see why a score changed.',
    `Do not optimise a proxy: ${proxy}. Keep such numbers as gates or diagnostics.`,
    ...(beside === null ? [] : [`${beside} is logged beside it (role: secondary) and decides nothing.`]),
    'sample_size, stopping and the cost cap are for a first run: raise them once you trust rubric and harness.',
  ]
}
