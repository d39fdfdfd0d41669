import { isMainThread } from 'node:worker_threads'
import { renderComparisonPage } from './comparison.ts'
import { figure } from './figure.ts'
import { figureTable, hybridTable } from './figures.ts'
import { parseOptions } from './options.ts'
import { playAll, serve } from './pool.ts'
import { casesOf, printed, SECTIONS } from './report.ts'

if (isMainThread) await report()
else serve(casesOf(SECTIONS))

async function report(): Promise<void> {
  const options = parseOptions(process.argv.slice(2))
  const { seed, size, form, only } = options
  if (form === 'figure') {
    console.log(figure(seed))
    return
  }
  const sections = SECTIONS.filter(({ name }) => only.includes(name))
  const began = performance.now()
  const results = await playAll(casesOf(sections).values(), options, new URL(import.meta.url))
  const figures = only.includes('single') ? [figureTable(results), hybridTable(results)] : []
  const tables = [...sections.flatMap(section => section.tables(results)), ...figures]
  const seconds = Math.round((performance.now() - began) / 1000)
  switch (form) {
    case 'text':
      console.log(tables.map(printed).join('\n\n'))
      console.log(`\nseed ${seed}, size ${size}, ${seconds} s`)
      return
    case 'json':
      console.log(JSON.stringify({ seed, size, tables, tallies: Object.fromEntries(results) }, null, 1))
      return
    case 'comparison':
      console.log(renderComparisonPage(results, { seed, size }))
      return
    default:
      form satisfies never
  }
}
