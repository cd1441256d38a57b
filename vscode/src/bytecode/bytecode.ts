// Documents msvm://bc/0x…: the bytecode of programs that are debugged.
import * as vscode from 'vscode';
import { SCHEME } from '../debug/model/names.ts';
import type { Feature } from '../services.ts';
import { lineHover } from './hover.ts';
import { isListing, Listings } from './listings.ts';
import { tint } from './tint.ts';
import { inlineValues, registerUnderCursor } from './values.ts';

const LANGUAGE = 'msbc';

export const bytecode: Feature = ({ context, sessions }) => {
  const listings = new Listings(sessions);
  const documents = { scheme: SCHEME };
  context.subscriptions.push(
    listings,
    tint(listings),
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, listings),
    vscode.languages.registerHoverProvider(documents, lineHover(listings)),
    vscode.languages.registerEvaluatableExpressionProvider([documents, { language: 'msasm' }], registerUnderCursor),
    vscode.languages.registerInlineValuesProvider(documents, inlineValues(sessions)),
    vscode.workspace.onDidOpenTextDocument((document) => {
      if (isListing(document.uri) && document.languageId !== LANGUAGE) void vscode.languages.setTextDocumentLanguage(document, LANGUAGE);
    }),
  );
};
