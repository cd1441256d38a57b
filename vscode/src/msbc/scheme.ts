// A `.msbc` as text: `msvm-file:` documents, whose path is the file's.
import * as vscode from 'vscode';

export const SCHEME = 'msvm-file';

export const listingUri = (file: vscode.Uri): vscode.Uri => vscode.Uri.from({ scheme: SCHEME, path: file.path });
/** The file on disk behind a listing. */
export const fileUri = (listing: vscode.Uri): vscode.Uri => vscode.Uri.file(listing.path);
export const isListing = (uri: vscode.Uri): boolean => uri.scheme === SCHEME;
export const isBytecodeFile = (uri: vscode.Uri): boolean => uri.scheme === 'file' && uri.path.toLowerCase().endsWith('.msbc');
