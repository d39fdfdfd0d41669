/** What a runner takes for an order to itself. */
export interface Order {
  command: string
  properties: string
  data: string
}

/**
 * The rules of the runner: `::command key=value::data` where a line begins, after white space; the older
 * `##[command key=value]data` anywhere in it. Both streams are read so.
 */
export function ordersIn(text: string): Order[] {
  return text.split(/\r\n|\n|\r/).flatMap(line => {
    const modern = /^\s*::([a-z-]+)(?: ([^:]*(?::(?!:)[^:]*)*))?::(.*)$/i.exec(line)
    const older = /##\[([a-z-]+)(?: ([^\]]*))?\](.*)$/i.exec(line)
    const found = modern ?? older
    return found === null
      ? []
      : [{ command: found[1] ?? '', properties: found[2] ?? '', data: found[3] ?? '' }]
  })
}
