/** Enough of a file to see what stands between its cells. */
const HEAD_BYTES = 65_536

/** What separates the cells of a CSV file, as its first rows show; rows that are empty show nothing. */
export async function separatorOf(file: File): Promise<string> {
  const { default: papa } = await import('papaparse')
  const head = await file.slice(0, HEAD_BYTES).text()
  return papa.parse(head, { preview: 10, skipEmptyLines: 'greedy' }).meta.delimiter
}
