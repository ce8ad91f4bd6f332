"""Printed equations, held against independent routes; a package a book, a file a chapter."""
