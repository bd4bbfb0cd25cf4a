import type { BulkJob, BulkRow, Posthorn, RowStatus } from '../../../../sdk/index.ts'
import { saveCsv } from '../../parts/save-file.ts'
import { toCsv } from './csv.ts'

const PAGE = 500
const NAMES = ['row', 'to', 'status', 'errorCode', 'errorMessage', 'messageId']

/** Saves all rows of a status as a CSV file. */
export async function downloadRows(api: Posthorn, job: BulkJob, status: RowStatus): Promise<void> {
  const lines: string[][] = [NAMES]
  for await (const row of readRows(api, job.id, status)) {
    lines.push([
      String(row.index + 1),
      row.to,
      row.status,
      row.errorCode ?? '',
      row.errorMessage ?? '',
      row.messageId ?? '',
    ])
  }
  saveCsv(toCsv(lines), `${job.name || job.id}-${status}.csv`)
}

async function* readRows(api: Posthorn, jobId: string, status: RowStatus): AsyncGenerator<BulkRow> {
  let cursor: string | null = null
  do {
    const page: { data: BulkRow[]; nextCursor: string | null } = await api.get(
      '/api/v2/messages/bulk/{jobId}/rows',
      {
        path: { jobId },
        query: { status, limit: PAGE, ...(cursor !== null && { cursor }) },
      },
    )
    yield* page.data
    cursor = page.nextCursor
  } while (cursor !== null)
}
