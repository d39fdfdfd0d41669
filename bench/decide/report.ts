import { awkward } from './awkward.ts'
import { builds } from './builds.ts'
import { campaigns } from './campaigns.ts'
import type { Case, Section, Table } from './case.ts'
import { fairness } from './fairness.ts'
import { luck } from './luck.ts'
import { mean } from './mean.ts'
import { rollback } from './rollback.ts'
import { rounds } from './rounds.ts'
import { single } from './single.ts'
import { skill } from './skill.ts'
import { stress } from './stress.ts'
import { suites } from './suites.ts'
import { words } from './words.ts'

export const SECTIONS: readonly Section[] = [
  single,
  words,
  campaigns,
  rounds,
  stress,
  awkward,
  rollback,
  suites,
  builds,
  fairness,
  mean,
  luck,
  skill,
]

export function casesOf(sections: readonly Section[]): Map<string, Case> {
  return new Map(sections.flatMap(section => section.cases()).map(each => [each.name, each]))
}

export function printed({ title, columns, rows, notes }: Table): string {
  const widths = columns.map((column, at) =>
    Math.max(column.length, ...rows.map(row => (row[at] ?? '').length)),
  )
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join('  ')
      .trimEnd()
  const heading = [title, '-'.repeat(title.length), line(columns)]
  return [...heading, ...rows.map(line), ...notes.map(note => `  ${note}`)].join('\n')
}
